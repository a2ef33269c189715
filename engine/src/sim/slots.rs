/// Values that stay where they were put, at numbers that are used again once they are taken out.
#[derive(Clone, Debug)]
pub struct Slots<T> {
    all: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { all: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slots<T> {
    /// Puts a value in and returns where.
    pub fn add(&mut self, value: T) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.all.push(None);
            u32::try_from(self.all.len() - 1).unwrap_or(u32::MAX)
        });
        if let Some(place) = self.all.get_mut(slot as usize) {
            *place = Some(value);
        }
        slot
    }

    pub fn get_mut(&mut self, slot: u32) -> Option<&mut T> {
        self.all.get_mut(slot as usize)?.as_mut()
    }

    pub fn take(&mut self, slot: u32) -> Option<T> {
        let value = self.all.get_mut(slot as usize)?.take()?;
        self.free.push(slot);
        Some(value)
    }
}
