//! Chance that can be had again: the same seed gives the same throws.

/// Splitmix64.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one, which is not 0.
    pub(crate) fn below(&mut self, most: usize) -> usize {
        (self.next() % most as u64) as usize
    }

    /// True once in so many throws.
    pub(crate) fn once_in(&mut self, throws: usize) -> bool {
        self.below(throws) == 0
    }

    pub(crate) fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len())]
    }

    /// Where to cut a body of this length: mostly in few places, sometimes at every byte.
    pub(crate) fn cuts(&mut self, length: usize) -> Vec<usize> {
        let mut cuts: Vec<usize> = match self.below(8) {
            0 | 1 => Vec::new(),
            2 if length < 2000 => (0..length).collect(),
            3 => (0..100).map(|_| self.below(length + 1)).collect(),
            _ => (0..=self.below(4)).map(|_| self.below(length + 1)).collect(),
        };
        cuts.sort_unstable();
        cuts.dedup();
        cuts
    }
}
