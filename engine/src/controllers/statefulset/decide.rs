//! What a StatefulSet does next, as a function of plain values.
//!
//! Mirrors `pkg/controller/statefulset/stateful_set_control.go`, v1.36.

use crate::sim::sort_by;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wish {
    /// The number of the first pod.
    pub start: i32,
    pub replicas: i32,
    /// `podManagementPolicy: Parallel`: no pod waits for another.
    pub is_parallel: bool,
    /// Pods below this number keep their template; nothing where pods are updated only once somebody deletes them.
    pub partition: Option<i32>,
}

/// A pod that is there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Member {
    pub number: i32,
    pub is_up_to_date: bool,
    pub is_finished: bool,
    pub is_terminating: bool,
    /// Running and ready for long enough.
    pub is_available: bool,
}

impl Member {
    fn is_healthy(&self) -> bool {
        self.is_available && !self.is_terminating
    }
}

/// One thing to do to the pod of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    Create(i32),
    /// It has ended and will be made anew.
    Renew(i32),
    /// It is one too many.
    ScaleDown(i32),
    /// It has an old template.
    Update(i32),
}

/// Decides what to do now; where pods must come one after the other that is one thing at the most. Otherwise an update
/// goes on beside it.
pub fn decide(wish: Wish, members: &[Member]) -> Vec<Deed> {
    let wanted = wish.start..wish.start + wish.replicas;
    let find = |number: i32| members.iter().find(|member| member.number == number);
    let mut deeds = Vec::new();
    for number in wanted.clone() {
        let Some(member) = find(number) else {
            deeds.push(Deed::Create(number));
            if wish.is_parallel {
                continue;
            }
            return deeds;
        };
        if member.is_finished {
            if !member.is_terminating {
                deeds.push(Deed::Renew(number));
            }
            if wish.is_parallel {
                continue;
            }
            return deeds;
        }
        if !member.is_healthy() && !wish.is_parallel {
            return deeds;
        }
    }
    let mut condemned: Vec<&Member> = members.iter().filter(|member| !wanted.contains(&member.number)).collect();
    sort_by(&mut condemned, |a, b| b.number.cmp(&a.number));
    let first_unhealthy = condemned.iter().rev().find(|member| !member.is_healthy()).map(|member| member.number);
    for member in condemned {
        if !wish.is_parallel {
            let may_go = member.is_available || Some(member.number) == first_unhealthy;
            if !member.is_terminating && may_go {
                deeds.push(Deed::ScaleDown(member.number));
            }
            return deeds;
        }
        if !member.is_terminating {
            deeds.push(Deed::ScaleDown(member.number));
        }
    }
    let Some(partition) = wish.partition else { return deeds };
    for number in wanted.rev().take_while(|number| *number - wish.start >= partition) {
        let Some(member) = find(number) else { break };
        if !member.is_up_to_date && !member.is_terminating && !deeds.contains(&Deed::Renew(number)) {
            deeds.push(Deed::Update(number));
            break;
        }
        if !member.is_healthy() {
            break;
        }
    }
    deeds
}

#[cfg(test)]
mod tests {
    use super::*;

    const WISH: Wish = Wish { start: 0, replicas: 3, is_parallel: false, partition: Some(0) };

    fn well(number: i32) -> Member {
        Member { number, is_up_to_date: true, is_available: true, ..Member::default() }
    }

    #[test]
    fn pods_come_one_after_the_other() {
        assert_eq!(decide(WISH, &[]), [Deed::Create(0)]);
        assert_eq!(decide(WISH, &[Member { is_available: false, ..well(0) }]), []);
        assert_eq!(decide(WISH, &[well(0)]), [Deed::Create(1)]);
        assert_eq!(decide(WISH, &[well(0), well(1), well(2)]), []);
        let parallel = Wish { is_parallel: true, ..WISH };
        assert_eq!(decide(parallel, &[well(1)]), [Deed::Create(0), Deed::Create(2)]);
        let old = |number| Member { is_up_to_date: false, ..well(number) };
        assert_eq!(decide(parallel, &[old(1), old(2)]), [Deed::Create(0), Deed::Update(2)]);
        assert_eq!(decide(parallel, &[old(0), old(1)]), [Deed::Create(2)], "it is not ready yet");
        let ended = Member { is_finished: true, is_available: false, ..old(2) };
        assert_eq!(decide(parallel, &[old(0), old(1), ended]), [Deed::Renew(2)]);
    }

    #[test]
    fn a_pod_on_its_way_out_holds_everything_up() {
        assert_eq!(decide(WISH, &[well(0), Member { is_terminating: true, ..well(1) }, well(2)]), []);
        let ended = Member { is_finished: true, is_available: false, ..well(1) };
        assert_eq!(decide(WISH, &[well(0), ended]), [Deed::Renew(1)]);
    }

    #[test]
    fn the_highest_numbers_go_first() {
        let all: Vec<Member> = (0..5).map(well).collect();
        assert_eq!(decide(WISH, &all), [Deed::ScaleDown(4)]);
        let parallel = Wish { is_parallel: true, ..WISH };
        assert_eq!(decide(parallel, &all), [Deed::ScaleDown(4), Deed::ScaleDown(3)]);
        let old: Vec<Member> = all.iter().map(|it| Member { is_up_to_date: false, ..*it }).collect();
        assert_eq!(decide(parallel, &old), [Deed::ScaleDown(4), Deed::ScaleDown(3), Deed::Update(2)]);
    }

    /// Of several sick ones above, the lowest goes, and nothing while a higher one is sick and another waits.
    #[test]
    fn a_sick_pod_that_is_one_too_many_goes_only_as_the_lowest_of_the_sick() {
        let sick = |number| Member { is_available: false, ..well(number) };
        let mut all: Vec<Member> = (0..3).map(well).collect();
        all.extend([sick(3), sick(4)]);
        assert_eq!(decide(WISH, &all), []);
        all[3] = well(3);
        assert_eq!(decide(WISH, &all), [Deed::ScaleDown(4)]);
    }

    #[test]
    fn an_update_goes_down_from_the_highest_number_and_stops_at_the_partition() {
        let old = |number| Member { is_up_to_date: false, ..well(number) };
        assert_eq!(decide(WISH, &[old(0), old(1), old(2)]), [Deed::Update(2)]);
        assert_eq!(decide(WISH, &[old(0), old(1), Member { is_available: false, ..well(2) }]), []);
        assert_eq!(decide(WISH, &[old(0), old(1), well(2)]), [Deed::Update(1)]);
        let partition = |number| Wish { partition: number, ..WISH };
        assert_eq!(decide(partition(Some(2)), &[old(0), old(1), well(2)]), []);
        assert_eq!(decide(partition(None), &[old(0), old(1), old(2)]), []);
    }

    /// kubernetes#67250: a broken template on the highest number stays, even after the template is mended.
    #[test]
    fn a_pod_that_never_gets_ready_blocks_its_own_repair() {
        let broken = Member { is_up_to_date: false, is_available: false, ..well(2) };
        assert_eq!(decide(WISH, &[well(0), well(1), broken]), []);
        assert_eq!(decide(Wish { is_parallel: true, ..WISH }, &[well(0), well(1), broken]), [Deed::Update(2)]);
    }
}
