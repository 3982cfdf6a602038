//! One route, described.

use http::StatusCode;
use ropeline_web::Kind;
use serde_json::Value;
use utoipa::openapi::{
    ContentBuilder, HttpMethod, ObjectBuilder, PathItem, Ref, RefOr, Required, Response,
    ResponseBuilder, Schema, Type,
    path::{Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn},
    request_body::RequestBodyBuilder,
    security::SecurityRequirement,
};

use super::problems;

/// A method on a path.
pub(super) struct Route {
    pub(super) path: &'static str,
    pub(super) method: HttpMethod,
    operation: OperationBuilder,
    problems: Vec<&'static Kind>,
    /// What the path's parameter can be, where that is known.
    choices: Option<Vec<String>>,
}

impl Route {
    pub(super) fn get(path: &'static str, id: &str, summary: &str) -> Self {
        Self::new(HttpMethod::Get, path, id, summary)
    }

    pub(super) fn post(path: &'static str, id: &str, summary: &str) -> Self {
        Self::new(HttpMethod::Post, path, id, summary)
    }

    pub(super) fn patch(path: &'static str, id: &str, summary: &str) -> Self {
        Self::new(HttpMethod::Patch, path, id, summary)
    }

    pub(super) fn delete(path: &'static str, id: &str, summary: &str) -> Self {
        Self::new(HttpMethod::Delete, path, id, summary)
    }

    fn new(method: HttpMethod, path: &'static str, id: &str, summary: &str) -> Self {
        let tag = match path.split('/').nth(3) {
            Some("queue") => "queue",
            Some("admin") => "admin",
            Some("service") => "service",
            _ => "operations",
        };
        let operation = OperationBuilder::new()
            .operation_id(Some(id))
            .summary(Some(summary))
            .tag(tag);
        Self {
            path,
            method,
            operation,
            problems: Vec::new(),
            choices: None,
        }
    }

    /// The parameter in the path is one of these.
    pub(super) fn one_of(mut self, choices: &[String]) -> Self {
        self.choices = Some(choices.to_vec());
        self
    }

    pub(super) fn about(mut self, description: &str) -> Self {
        self.operation = self.operation.description(Some(description));
        self
    }

    /// Any one of these proves who asks.
    pub(super) fn secured(mut self, schemes: &[&str]) -> Self {
        for scheme in schemes {
            let nothing: [&str; 0] = [];
            let requirement = SecurityRequirement::new(*scheme, nothing);
            self.operation = self.operation.security(requirement);
        }
        self
    }

    /// These may prove who asks; nothing has to.
    pub(super) fn may_be_secured(mut self, schemes: &[&str]) -> Self {
        self.operation = self.operation.security(SecurityRequirement::default());
        self.secured(schemes)
    }

    pub(super) fn query(mut self, name: &str, description: &str, schema: ObjectBuilder) -> Self {
        let parameter = parameter(ParameterIn::Query, name, description, schema);
        self.operation = self.operation.parameter(parameter);
        self
    }

    pub(super) fn header(mut self, name: &str, description: &str, schema: ObjectBuilder) -> Self {
        let parameter = parameter(ParameterIn::Header, name, description, schema);
        self.operation = self.operation.parameter(parameter);
        self
    }

    pub(super) fn body(mut self, schema: &str, required: Required, example: Value) -> Self {
        let content = ContentBuilder::new()
            .schema(Some(Ref::from_schema_name(schema)))
            .example(Some(example));
        let body = RequestBodyBuilder::new()
            .required(Some(required))
            .content("application/json", content.build());
        self.operation = self.operation.request_body(Some(body.build()));
        self
    }

    /// An answer with a body of this shape.
    pub(super) fn answer(
        self,
        status: StatusCode,
        description: &str,
        schema: &str,
        example: Value,
    ) -> Self {
        let content = ContentBuilder::new()
            .schema(Some(Ref::from_schema_name(schema)))
            .example(Some(example));
        let response = ResponseBuilder::new()
            .description(description)
            .content("application/json", content.build());
        self.respond(status, response)
    }

    /// An answer of another kind, or without a body.
    pub(super) fn respond(mut self, status: StatusCode, response: ResponseBuilder) -> Self {
        let response: Response = response.build();
        self.operation = self.operation.response(status.as_str(), response);
        self
    }

    pub(super) fn fails(mut self, kinds: &[&'static Kind]) -> Self {
        self.problems.extend(kinds);
        self
    }

    pub(super) fn item(self) -> PathItem {
        let mut operation = self.operation;
        let parts = self.path.split('/');
        for name in parts.filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
            operation = operation.parameter(in_path(name, self.choices.clone()));
        }
        for (status, response) in problems::responses(&self.problems) {
            operation = operation.response(status.as_str(), response);
        }
        let operation: Operation = operation.build();
        PathItem::new(self.method, operation)
    }
}

pub(super) fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

pub(super) fn number() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(0))
}

pub(super) fn room() -> ObjectBuilder {
    text()
        .pattern(Some("^[a-z0-9-]{1,64}$"))
        .examples([Value::from("main")])
}

fn in_path(name: &str, choices: Option<Vec<String>>) -> Parameter {
    let (description, schema) = match name {
        "room" => ("The room's id.", room()),
        "userId" => (
            "The user's id, or the name that the gate says for an anonymous visitor.",
            text().pattern(Some("^[!-~]{1,128}$")),
        ),
        _ => (
            "A problem's code, as in its `type`.",
            text().enum_values(choices),
        ),
    };
    ParameterBuilder::from(parameter(ParameterIn::Path, name, description, schema))
        .required(Required::True)
        .build()
}

fn parameter(
    place: ParameterIn,
    name: &str,
    description: &str,
    schema: ObjectBuilder,
) -> Parameter {
    let schema: RefOr<Schema> = RefOr::T(schema.into());
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .description(Some(description))
        .required(Required::False)
        .schema(Some(schema))
        .build()
}
