use super::{Attributes, Quotas, Type};
use crate::sim::Seq;

/// An object in the cloud.
#[derive(Clone, Debug, PartialEq)]
pub struct CloudObject {
    pub id: String,
    pub kind: &'static str,
    pub attributes: Attributes,
}

/// What sets `desired_count` of a service in the cloud, every minute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Autoscaler {
    pub id: String,
    pub min: i64,
    pub max: i64,
    /// What its metric asks for.
    pub want: i64,
    /// The command that set it.
    pub cause: Seq,
}

impl Autoscaler {
    pub fn count(&self) -> i64 {
        self.want.min(self.max).max(self.min)
    }
}

/// The cloud as it is, whatever anybody remembers of it.
#[derive(Clone, Debug, Default)]
pub struct Cloud {
    objects: Vec<CloudObject>,
    made: u64,
    pub quotas: Quotas,
    pub autoscalers: Vec<Autoscaler>,
}

impl Cloud {
    pub fn objects(&self) -> &[CloudObject] {
        &self.objects
    }

    pub fn get(&self, id: &str) -> Option<&CloudObject> {
        self.objects.iter().find(|it| it.id == id)
    }

    /// Makes an object.
    ///
    /// # Errors
    /// The cloud's own words, where the quota does not allow it.
    pub fn create(&mut self, kind: &'static Type, attributes: Attributes) -> Result<String, String> {
        let have = self.objects.iter().filter(|it| it.kind == kind.name).count() as u64;
        if let Some(most) = self.quotas.get(kind.name).filter(|most| have >= **most) {
            return Err(["LimitExceeded: the quota of ", kind.name, " is ", &most.to_string()].concat());
        }
        self.made += 1;
        let id = [kind.prefix, "-", &self.made.to_string()].concat();
        self.objects.push(CloudObject { id: id.clone(), kind: kind.name, attributes });
        Ok(id)
    }

    /// Writes attributes of an object.
    ///
    /// # Errors
    /// The object is not there.
    pub fn update(&mut self, id: &str, attributes: Attributes) -> Result<(), String> {
        let Some(it) = self.objects.iter_mut().find(|it| it.id == id) else { return Err(missing(id)) };
        it.attributes = attributes;
        Ok(())
    }

    /// Takes an object away.
    ///
    /// # Errors
    /// The object is not there.
    pub fn delete(&mut self, id: &str) -> Result<(), String> {
        let before = self.objects.len();
        self.objects.retain(|it| it.id != id);
        self.autoscalers.retain(|it| it.id != id);
        if self.objects.len() == before { Err(missing(id)) } else { Ok(()) }
    }
}

fn missing(id: &str) -> String {
    ["NotFound: there is no object \"", id, "\""].concat()
}
