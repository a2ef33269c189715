use serde_json::Value;

/// An attribute of a type of resource.
pub struct Attribute {
    pub name: &'static str,
    pub is_number: bool,
    pub is_required: bool,
    /// It cannot be changed: the object is replaced.
    pub forces_new: bool,
}

/// A type of resource that the provider knows.
pub struct Type {
    pub name: &'static str,
    /// What its objects' names in the cloud begin with.
    pub prefix: &'static str,
    pub attributes: &'static [Attribute],
}

const fn text(name: &'static str, is_required: bool, forces_new: bool) -> Attribute {
    Attribute { name, is_number: false, is_required, forces_new }
}

const fn number(name: &'static str, is_required: bool) -> Attribute {
    Attribute { name, is_number: true, is_required, forces_new: false }
}

/// All of them: a service of so many tasks, a group of machines, a DNS record.
pub const TYPES: &[Type] = &[
    Type {
        name: "cloud_service",
        prefix: "svc",
        attributes: &[number("desired_count", true), text("image", true, false), text("region", false, true)],
    },
    Type {
        name: "cloud_instance_group",
        prefix: "grp",
        attributes: &[text("machine_type", true, true), number("size", true)],
    },
    Type {
        name: "cloud_dns_record",
        prefix: "dns",
        attributes: &[text("name", true, true), number("ttl", false), text("value", true, false)],
    },
];

impl Type {
    pub fn find(name: &str) -> Option<&'static Type> {
        TYPES.iter().find(|it| it.name == name)
    }

    pub fn attribute(&self, name: &str) -> Option<&'static Attribute> {
        self.attributes.iter().find(|it| it.name == name)
    }

    /// A value as the provider keeps it.
    ///
    /// # Errors
    /// In the tool's words: there is no such argument, or the value is none of its type.
    pub fn value(&self, name: &str, value: &Value) -> Result<Value, String> {
        let Some(attribute) = self.attribute(name) else {
            return Err(
                ["Error: Unsupported argument\n\nAn argument named \"", name, "\" is not expected here."].concat()
            );
        };
        let wrong = |what: &str| {
            let text = ["\"", name, "\": ", what, " required"].concat();
            ["Error: Incorrect attribute value type\n\nInappropriate value for attribute ", &text, "."].concat()
        };
        match (attribute.is_number, value) {
            (true, Value::Number(it)) if it.is_i64() || it.is_u64() => Ok(value.clone()),
            (true, Value::String(text)) => text.parse::<i64>().map(Value::from).map_err(|_| wrong("a number is")),
            (true, _) => Err(wrong("a number is")),
            (false, Value::String(_)) => Ok(value.clone()),
            (false, Value::Number(_) | Value::Bool(_)) => Ok(value.to_string().into()),
            (false, _) => Err(wrong("string")),
        }
    }
}
