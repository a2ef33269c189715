//! What an apply would come to, without doing it.

use serde_json::Value;

use super::strategy::drop_status;
use super::{ApiError, ApiServer};
use crate::api::{Kind, Name, Object, ObjectKey};

impl ApiServer {
    /// The object as it would be stored after `kubectl apply --dry-run=server`: merged, defaulted and admitted.
    /// Namespaces that are yet `to_come`, since the same text creates them, count as there.
    ///
    /// # Errors
    /// As the request itself.
    pub fn preview(&self, kind: Kind, namespace: &Name, value: &Value, to_come: &[Name]) -> Result<Object, ApiError> {
        let (mut object, is_there) = self.applied(kind, namespace, value)?;
        let key = object.key();
        if is_there {
            return self.updated(&key, object, self.live(&key)?);
        }
        if !to_come.contains(namespace) {
            self.admit_namespace(&key)?;
        }
        drop_status(&mut object);
        self.fill_in(&key, &mut object)?;
        self.admit_size(&object)?;
        self.preview_quota(&key, &object)?;
        Ok(object)
    }

    fn preview_quota(&self, key: &ObjectKey, object: &Object) -> Result<(), ApiError> {
        object.as_pod().map_or(Ok(()), |pod| self.charge_quotas(key, pod).map(drop))
    }
}
