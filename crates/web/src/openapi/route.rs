//! One route, described.

use http::StatusCode;
use serde_json::Value;
use utoipa::openapi::{
    ContentBuilder, HttpMethod, ObjectBuilder, PathItem, Ref, RefOr, Required, Response,
    ResponseBuilder, Schema, Type,
    path::{Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn},
    request_body::RequestBodyBuilder,
    security::SecurityRequirement,
};

use super::problems;
use crate::Kind;

/// A method on a path.
pub struct Route {
    /// With names in braces.
    pub path: &'static str,
    /// One of HTTP's.
    pub method: HttpMethod,
    operation: OperationBuilder,
    problems: Vec<&'static Kind>,
}

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Route").field(&self.path).finish()
    }
}

impl Route {
    /// `GET path`.
    pub fn get(path: &'static str, id: &str, summary: &str) -> Self {
        Self::new(HttpMethod::Get, path, id, summary)
    }

    /// `POST path`.
    pub fn post(path: &'static str, id: &str, summary: &str) -> Self {
        Self::new(HttpMethod::Post, path, id, summary)
    }

    /// `PUT path`.
    pub fn put(path: &'static str, id: &str, summary: &str) -> Self {
        Self::new(HttpMethod::Put, path, id, summary)
    }

    /// `PATCH path`.
    pub fn patch(path: &'static str, id: &str, summary: &str) -> Self {
        Self::new(HttpMethod::Patch, path, id, summary)
    }

    /// `DELETE path`.
    pub fn delete(path: &'static str, id: &str, summary: &str) -> Self {
        Self::new(HttpMethod::Delete, path, id, summary)
    }

    fn new(method: HttpMethod, path: &'static str, id: &str, summary: &str) -> Self {
        let operation = OperationBuilder::new()
            .operation_id(Some(id))
            .summary(Some(summary));
        Self {
            path,
            method,
            operation,
            problems: Vec::new(),
        }
    }

    /// Under which heading it is shown.
    #[must_use]
    pub fn tag(mut self, tag: &str) -> Self {
        self.operation = self.operation.tag(tag);
        self
    }

    /// The names in braces.
    pub fn names_in_path(&self) -> impl Iterator<Item = &'static str> + use<> {
        let parts = self.path.split('/');
        parts.filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }

    /// What one of the names in braces stands for.
    #[must_use]
    pub fn in_path(mut self, name: &str, description: &str, schema: ObjectBuilder) -> Self {
        let parameter = parameter(ParameterIn::Path, name, description, schema);
        let parameter = ParameterBuilder::from(parameter).required(Required::True);
        self.operation = self.operation.parameter(parameter.build());
        self
    }

    /// More than its summary says.
    #[must_use]
    pub fn about(mut self, description: &str) -> Self {
        self.operation = self.operation.description(Some(description));
        self
    }

    /// Any one of these proves who asks.
    #[must_use]
    pub fn secured(mut self, schemes: &[&str]) -> Self {
        for scheme in schemes {
            let nothing: [&str; 0] = [];
            let requirement = SecurityRequirement::new(*scheme, nothing);
            self.operation = self.operation.security(requirement);
        }
        self
    }

    /// These may prove who asks; nothing has to.
    #[must_use]
    pub fn may_be_secured(mut self, schemes: &[&str]) -> Self {
        self.operation = self.operation.security(SecurityRequirement::default());
        self.secured(schemes)
    }

    /// A parameter in the query, which may be left out.
    #[must_use]
    pub fn query(mut self, name: &str, description: &str, schema: ObjectBuilder) -> Self {
        let parameter = parameter(ParameterIn::Query, name, description, schema);
        self.operation = self.operation.parameter(parameter);
        self
    }

    /// A parameter in the query that has to be there.
    #[must_use]
    pub fn required_query(mut self, name: &str, description: &str, schema: ObjectBuilder) -> Self {
        let parameter = parameter(ParameterIn::Query, name, description, schema);
        let parameter = ParameterBuilder::from(parameter).required(Required::True);
        self.operation = self.operation.parameter(parameter.build());
        self
    }

    /// A header, which may be left out.
    #[must_use]
    pub fn header(mut self, name: &str, description: &str, schema: ObjectBuilder) -> Self {
        let parameter = parameter(ParameterIn::Header, name, description, schema);
        self.operation = self.operation.parameter(parameter);
        self
    }

    /// What is sent, in this shape.
    #[must_use]
    pub fn body(mut self, schema: &str, required: Required, example: Value) -> Self {
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
    #[must_use]
    pub fn answer(
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
    #[must_use]
    pub fn respond(mut self, status: StatusCode, response: ResponseBuilder) -> Self {
        let response: Response = response.build();
        self.operation = self.operation.response(status.as_str(), response);
        self
    }

    /// The kinds of problem that it is answered with.
    #[must_use]
    pub fn fails(mut self, kinds: &[&'static Kind]) -> Self {
        self.problems.extend(kinds);
        self
    }

    /// As the document has it.
    pub fn item(self) -> PathItem {
        let mut operation = self.operation;
        for (status, response) in problems::responses(&self.problems) {
            operation = operation.response(status.as_str(), response);
        }
        let operation: Operation = operation.build();
        PathItem::new(self.method, operation)
    }
}

/// A text.
pub fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// A whole number from 0.
pub fn number() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(0))
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
