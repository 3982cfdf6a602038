//! Real nodes, a crowd before them, and what goes wrong meanwhile; judged by the record of every answer.

mod alone;
mod apart;
mod chaos;
mod cluster;
mod crowd;
mod plan;
mod run;
mod visitor;
