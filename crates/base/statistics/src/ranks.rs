//! The ranks of values.

/// The rank of each value from 0 on; equal values have the mean of their ranks.
pub(crate) fn ranks(series: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..series.len()).collect();
    order.sort_by(|one, other| series[*one].total_cmp(&series[*other]));
    let mut ranks = vec![0.0; series.len()];
    for equal in order.chunk_by(|one, other| series[*one] == series[*other]) {
        let first = order.partition_point(|index| series[*index].total_cmp(&series[equal[0]]).is_lt());
        let rank = first as f64 + (equal.len() as f64 - 1.0) / 2.0;
        equal.iter().for_each(|index| ranks[*index] = rank);
    }
    ranks
}
