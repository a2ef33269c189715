//! What each happening leads to.

use super::Simulation;
use super::simulation::Happening;

impl Simulation {
    pub(super) fn let_happen(&mut self, happening: Option<Happening>) {
        match happening {
            Some(Happening::Arrive(flight)) => self.arrive(flight),
            Some(Happening::Answer(flight)) => self.answer(flight),
            Some(Happening::Deliver { process, version }) => self.deliver(process, version),
            Some(Happening::Release { at, key, epoch }) => self.release(at, &key, epoch),
            Some(Happening::Continue { at, turn, epoch }) => self.go_on(at, turn, epoch),
            Some(Happening::Tick { at, epoch, cause }) => self.tick(at, epoch, cause),
            Some(Happening::Restart { process, epoch, cause }) => self.restart(process, epoch, cause),
            Some(Happening::Resync { process, epoch }) => self.resync(process, epoch),
            Some(Happening::Relist { process, epoch, cause }) => self.relist(process, epoch, cause),
            Some(Happening::Late { process, epoch, change }) => self.hear_late(process, epoch, &change),
            Some(Happening::Provision) => self.provision(),
            Some(Happening::CloudClock) => self.scale_in_cloud(),
            Some(Happening::Route(service)) => self.route(&service),
            Some(Happening::Occur { kubelet, boot, occurrence, cause }) => {
                self.occur(kubelet, boot, &occurrence, cause);
            }
            None => {}
        }
        self.balance();
    }
}
