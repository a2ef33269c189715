//! Scores of one node, and how the scores of all are brought to 0 to 100.
//!
//! Mirrors `framework/plugins/noderesources` and `framework/plugins/helper/normalize_score.go`, v1.36.

/// The best that a node can be by one measure.
pub const BEST: i64 = 100;

/// Free share of the node after the pod, 0 to 100, averaged over CPU and memory (`leastResourceScorer`).
pub fn least_allocated_score(requested: [i64; 2], capacity: [i64; 2]) -> i64 {
    let mut sum = 0;
    let mut weights = 0;
    for (requested, capacity) in requested.into_iter().zip(capacity) {
        if capacity > 0 {
            weights += 1;
            if requested <= capacity {
                sum += (capacity - requested) * BEST / capacity;
            }
        }
    }
    if weights == 0 { 0 } else { sum / weights }
}

/// How even the used shares of CPU and memory are, 50 to 100.
pub fn evenness(requested: [i64; 2], capacity: [i64; 2]) -> i64 {
    let share = |at: usize| {
        let (requested, capacity) = (requested.get(at)?, capacity.get(at).filter(|it| **it > 0)?);
        Some((*requested as f64 / *capacity as f64).min(1.0))
    };
    let uneven = match (share(0), share(1)) {
        (Some(cpu), Some(memory)) => ((cpu - memory) / 2.0).abs(),
        _ => 0.0,
    };
    ((1.0 - uneven) * BEST as f64) as i64
}

/// Whether the pod makes the use of CPU and memory more even: 75 where it changes nothing
/// (`balancedResourceScorer`; recorded in `golden_resource_score.json`).
pub fn balanced_allocation_score(used: [i64; 2], asked: [i64; 2], capacity: [i64; 2]) -> i64 {
    let with = [used[0].saturating_add(asked[0]), used[1].saturating_add(asked[1])];
    75 + (evenness(with, capacity) - evenness(used, capacity)).div_euclid(2)
}

/// Scales scores so that the largest becomes 100; reversed, so that 0 does (`DefaultNormalizeScore`).
pub(super) fn normalize(scores: &mut [i64], reversed: bool) {
    let most = scores.iter().copied().max().unwrap_or(0);
    for score in scores {
        let scaled = if most == 0 { 0 } else { *score * BEST / most };
        *score = if reversed { BEST - scaled } else { scaled };
    }
}

/// Scales scores so that the smallest becomes 0 and the largest 100 (`InterPodAffinity.NormalizeScore`).
pub(super) fn stretch(scores: &mut [i64]) {
    let least = scores.iter().copied().min().unwrap_or(0);
    let most = scores.iter().copied().max().unwrap_or(0);
    let range = most - least;
    for score in scores {
        let share = if range == 0 { 0.0 } else { (*score - least) as f64 / range as f64 };
        *score = (BEST as f64 * share) as i64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_there_is_scores_nothing() {
        assert_eq!(least_allocated_score([1000, 1024], [4000, 4096]), 75);
        assert_eq!(least_allocated_score([5000, 0], [4000, 4096]), 50);
    }

    #[test]
    fn scores_are_brought_to_one_scale() {
        let scaled = |mut scores: Vec<i64>, reversed| {
            normalize(&mut scores, reversed);
            scores
        };
        assert_eq!(scaled(vec![0, 3, 4], false), [0, 75, 100]);
        assert_eq!(scaled(vec![0, 3, 4], true), [100, 25, 0]);
        assert_eq!(scaled(vec![0, 0], true), [100, 100]);
        let mut company = [-5, 0, 5];
        stretch(&mut company);
        assert_eq!(company, [0, 50, 100]);
        let mut equal = [7, 7];
        stretch(&mut equal);
        assert_eq!(equal, [0, 0]);
    }
}
