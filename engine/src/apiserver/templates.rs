//! What pods of one template share, so that it is made and checked once.

use std::rc::Rc;

use crate::api::{Name, PodSpec, Text};
use crate::sim::Map;

/// A pod's spec as it was given, and what defaulting and admission made of it.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    pub given: Rc<PodSpec>,
    pub spec: Rc<PodSpec>,
    pub qos_class: Text,
}

/// A spec that pods share until they are bound, and what becomes of it on each node: pods of one template on one node go
/// on sharing it.
#[derive(Clone, Debug, Default)]
pub(super) struct Bound {
    given: Rc<PodSpec>,
    on: Map<Name, Rc<PodSpec>>,
}

impl Bound {
    pub fn spec(&mut self, given: &Rc<PodSpec>, node: &Name) -> Rc<PodSpec> {
        if !Rc::ptr_eq(&self.given, given) {
            *self = Self { given: Rc::clone(given), on: Map::default() };
        }
        let bind = || Rc::new(PodSpec { node_name: node.clone(), ..PodSpec::clone(given) });
        Rc::clone(self.on.or_insert_with(node.clone(), bind))
    }
}
