use super::{Address, Attributes, Cloud, Known, State, Type, Wanted};

/// What is to be done with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Create,
    Update,
    Delete,
    /// Destroyed first, then created.
    Replace,
}

/// What changes about one resource, or has changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub address: Address,
    pub action: Action,
    /// The object's name in the cloud, where there is one.
    pub id: Option<String>,
    pub before: Attributes,
    pub after: Attributes,
}

/// What a comparison came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    pub is_refresh_only: bool,
    /// What others have changed since the state was written.
    pub drift: Vec<Change>,
    pub changes: Vec<Change>,
    /// The state with what is there now.
    pub refreshed: State,
    /// The objects that were looked at: address and name in the cloud.
    pub read: Vec<(Address, String)>,
}

impl Plan {
    pub fn count(&self, which: &[Action]) -> usize {
        self.changes.iter().filter(|it| which.contains(&it.action)).count()
    }

    /// Whether there is nothing to approve.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && (!self.is_refresh_only || self.drift.is_empty())
    }
}

/// Looks at every object of the state, and compares with the configuration unless only asked to look.
pub fn plan(wanted: &[Wanted], state: &State, cloud: &Cloud, is_refresh_only: bool) -> Plan {
    let mut plan = Plan { is_refresh_only, refreshed: state.clone(), ..Plan::default() };
    for known in &state.resources {
        plan.read.push((known.address.clone(), known.id.clone()));
        let (address, id, before) = (known.address.clone(), Some(known.id.clone()), known.attributes.clone());
        match cloud.get(&known.id) {
            None => {
                plan.refreshed.remove(&known.address);
                plan.drift.push(Change { address, id, before, after: Attributes::new(), action: Action::Delete });
            }
            Some(object) if object.attributes != known.attributes => {
                let after = object.attributes.clone();
                plan.refreshed.put(Known { attributes: after.clone(), ..known.clone() });
                plan.drift.push(Change { address, id, before, after, action: Action::Update });
            }
            Some(_) => {}
        }
    }
    if is_refresh_only {
        return plan;
    }
    for it in wanted {
        plan.changes.extend(change(it, plan.refreshed.get(&it.address)));
    }
    for known in &plan.refreshed.resources {
        if !wanted.iter().any(|it| it.address == known.address) {
            let (address, before) = (known.address.clone(), known.attributes.clone());
            let id = Some(known.id.clone());
            plan.changes.push(Change { address, id, before, after: Attributes::new(), action: Action::Delete });
        }
    }
    crate::sim::sort_by(&mut plan.changes, |a, b| a.address.cmp(&b.address));
    plan
}

fn change(wanted: &Wanted, known: Option<&Known>) -> Option<Change> {
    let address = wanted.address.clone();
    let Some(known) = known else {
        let (before, after) = (Attributes::new(), wanted.attributes.clone());
        return Some(Change { address, id: None, before, after, action: Action::Create });
    };
    let mut after = wanted.attributes.clone();
    for name in &wanted.ignore_changes {
        match known.attributes.get(name) {
            Some(value) => drop(after.insert(name.clone(), value.clone())),
            None => drop(after.remove(name)),
        }
    }
    if after == known.attributes {
        return None;
    }
    let kind = Type::find(&address.kind)?;
    let is_new = kind.attributes.iter().any(|it| it.forces_new && after.get(it.name) != known.attributes.get(it.name));
    let action = if is_new { Action::Replace } else { Action::Update };
    Some(Change { address, action, id: Some(known.id.clone()), before: known.attributes.clone(), after })
}
