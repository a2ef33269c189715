//! The properties of the run, and how it stands with each.

use serde::Serialize;

use super::Phrase;
use crate::api::{Kind, Object, ObjectKey};
use crate::sim::{Seq, Time};
use crate::world::{Breach, Simulation, Standing};

/// What must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Property {
    /// Never more pods than `replicas` and `maxSurge` allow.
    Surge,
    /// A rollout never leaves fewer pods available than `replicas` less `maxUnavailable`.
    Availability,
    /// What has a controller has one, and that is there.
    OneController,
    /// Every workload comes to be as it is wanted, and stays so.
    Converges,
    /// Nobody writes a field that another set.
    OwnFields,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InvariantRow {
    pub property: Property,
    /// The Deployment that it is about, where it is about one.
    pub about: Option<ObjectKey>,
    pub state: InvariantState,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum InvariantState {
    NotApplicable,
    Holds,
    /// The newest trace event that broke it, and how often it was broken.
    Broken {
        seq: Seq,
        at: Time,
        text: Phrase,
        n: u32,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InvariantsView {
    pub rows: Vec<InvariantRow>,
    /// How long the last change took until every workload was as it is wanted, in ms.
    pub took_ms: Option<u64>,
    /// For how long one has been on its way by now, in ms.
    pub under_way_ms: Option<u64>,
}

impl From<Standing> for InvariantState {
    fn from(standing: Standing) -> Self {
        match standing {
            Standing::NotApplicable => Self::NotApplicable,
            Standing::Holds => Self::Holds,
            Standing::Broken(Breach { seq, at, note, n }) => Self::Broken { seq, at, text: note.to_string().into(), n },
        }
    }
}

/// Each property; those of Deployments by their names.
pub fn invariants(simulation: &Simulation) -> InvariantsView {
    let objects = simulation.api().objects().of_kind(Kind::Deployment).filter_map(Object::as_deployment);
    let mut deployments: Vec<_> = objects.collect();
    crate::sim::sort_by(&mut deployments, |a, b| {
        let (a, b) = (&a.metadata, &b.metadata);
        (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name))
    });
    let mut rows = Vec::new();
    for deployment in &deployments {
        let meta = &deployment.metadata;
        let key = ObjectKey::new(Kind::Deployment, meta.namespace.clone(), meta.name.clone());
        for (property, standing) in
            [Property::Surge, Property::Availability].into_iter().zip(simulation.bounds_of(deployment))
        {
            rows.push(InvariantRow { property, about: Some(key.clone()), state: standing.into() });
        }
    }
    if deployments.is_empty() {
        let none = |property| InvariantRow { property, about: None, state: InvariantState::NotApplicable };
        rows.extend([Property::Surge, Property::Availability].map(none));
    }
    let all = [
        (Property::OneController, simulation.one_controller()),
        (Property::Converges, simulation.convergence()),
        (Property::OwnFields, simulation.own_fields()),
    ];
    rows.extend(all.map(|(property, standing)| InvariantRow { property, about: None, state: standing.into() }));
    let known = simulation.invariants();
    InvariantsView {
        rows,
        took_ms: known.took().map(|it| it.0),
        under_way_ms: known.under_way().map(|since| simulation.now().since(since).0),
    }
}
