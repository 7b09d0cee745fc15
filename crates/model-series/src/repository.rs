//! The front door: one repository of series, to define, find, write and read them.

use std::sync::Arc;

use store::{StateCondition, Tenant, Timestamp};

use crate::catalogue::{Context, Over};
use crate::{
    AttributeType, Definition, DefinitionChange, DefinitionDraft, Error, Hook, HookStatus, Search,
    SearchPage, SeriesRef, SeriesWrite, Source, Unit, Units,
};
use strands::{Edit, Modification, Points, TimeRange};

/// The series of one tenant; clones share.
#[derive(Clone, Debug)]
pub struct Repository {
    pub(crate) context: Arc<Context>,
    /// What changes of definitions and master data through this handle demand.
    condition: StateCondition,
}

impl Repository {
    pub(crate) fn new(context: Arc<Context>) -> Self {
        Self { context, condition: StateCondition::NONE }
    }

    /// The same for a writer that demands a state: a series, unit, attribute type or hook that is stored, changed or
    /// removed through this handle must be in it at that moment ([`Error::StateDiffers`] otherwise). New series and
    /// points are not looked at.
    #[must_use]
    pub fn when(self, condition: StateCondition) -> Self {
        Self { condition, ..self }
    }

    /// Whose series.
    pub fn tenant(&self) -> &Tenant {
        &self.context.tenant
    }

    /// Defines series; answers them in order: all or none. Formulas may refer to series that are defined with them. Cost: a few
    /// look-ups of many rows each, one commit of some six rows a series; several where the catalogue has more than one bucket,
    /// or one commit does not take them.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] for more than [`crate::DRAFTS_MAX`] drafts, 64 MiB of them, or a row that no commit takes
    /// ([`store::COMMIT_BYTES_MAX`]). For one draft [`Error::AlreadyExists`], [`Error::Invalid`], [`Error::NotFound`] (a unit, an attribute type, a
    /// series of a formula) or [`Error::Limit`]; for several [`Error::Refused`], which names each that is refused
    /// and why. If the store refuses.
    pub async fn define(
        &self,
        drafts: Vec<DefinitionDraft>,
        now: Timestamp,
    ) -> Result<Vec<Arc<Definition>>, Error> {
        self.context.define(drafts, now).await
    }

    /// Changes a definition; answers it as it is now.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::AlreadyExists`] for a name that is taken, [`Error::Invalid`] for what the series
    /// cannot be (any more); [`Error::Contention`]; if the store refuses.
    pub async fn change(
        &self,
        series: SeriesRef<'_>,
        change: DefinitionChange,
        now: Timestamp,
    ) -> Result<Arc<Definition>, Error> {
        self.context.change(series, change, &self.condition, now).await
    }

    /// Removes a series with all its points; answers what it was.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Invalid`] if formulas refer to it, naming them; if the store refuses.
    pub async fn remove(&self, series: SeriesRef<'_>, now: Timestamp) -> Result<Arc<Definition>, Error> {
        self.context.remove(series, &self.condition, now).await
    }

    /// The series. Cost: as [`Repository::find_many`].
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn find(&self, series: SeriesRef<'_>) -> Result<Arc<Definition>, Error> {
        Ok(self.context.find(series).await?.definition)
    }

    /// The series, in order; `None` for those that are not. Cost: about a microsecond each for what was found before.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn find_many(&self, series: &[SeriesRef<'_>]) -> Result<Vec<Option<Arc<Definition>>>, Error> {
        let found = self.context.find_all(series).await?;
        Ok(found.into_iter().map(|found| found.map(|found| found.definition)).collect())
    }

    /// A page of the series that are searched for, by name.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] for a limit beyond [`crate::SEARCH_PAGE_MAX`]; if the store refuses.
    pub async fn search(&self, search: &Search) -> Result<SearchPage, Error> {
        self.context.search(search).await
    }

    /// Which formulas refer to a series, directly, by name.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn users(&self, number: u32) -> Result<Vec<Arc<Definition>>, Error> {
        let users = self.context.users(number).await?.0;
        let found = self.context.find_numbers(&users).await?;
        Ok(found.into_iter().flatten().map(|found| found.definition).collect())
    }

    /// All units, ready to convert.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn units(&self) -> Result<Arc<Units>, Error> {
        Ok(self.context.units().await?.0)
    }

    /// Stores a unit under a name that has none.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyExists`]; else as [`Repository::put_unit`].
    pub async fn create_unit(&self, unit: Unit) -> Result<(), Error> {
        self.context.put_unit(unit, Over::Nothing, &self.condition).await
    }

    /// Stores a unit, new or in place of the one of its name.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a unit that cannot be (a circle of bases, a factor of 0), [`Error::NotFound`] for an
    /// unknown base or integral unit; if the store refuses.
    pub async fn put_unit(&self, unit: Unit) -> Result<(), Error> {
        self.context.put_unit(unit, Over::Anything, &self.condition).await
    }

    /// Removes a unit.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Invalid`] while a series or another unit uses it, naming one; if the store
    /// refuses.
    pub async fn remove_unit(&self, name: &str) -> Result<(), Error> {
        self.context.remove_unit(name, &self.condition).await
    }

    /// All attribute types, by name.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn attribute_types(&self) -> Result<Vec<AttributeType>, Error> {
        self.context.all_attribute_types().await
    }

    /// Stores an attribute type under a name that has none.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyExists`]; else as [`Repository::put_attribute_type`].
    pub async fn create_attribute_type(&self, attribute_type: &AttributeType) -> Result<(), Error> {
        self.context.put_attribute_type(attribute_type, Over::Nothing, &self.condition).await
    }

    /// Stores an attribute type, new or in place of the one of its name. What series have keeps its value.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for one that cannot be, or whose kind differs while series have it; if the store refuses.
    pub async fn put_attribute_type(&self, attribute_type: AttributeType) -> Result<(), Error> {
        self.context.put_attribute_type(&attribute_type, Over::Anything, &self.condition).await
    }

    /// Removes an attribute type.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Invalid`] while a series has such an attribute, naming one; if the store refuses.
    pub async fn remove_attribute_type(&self, name: &str) -> Result<(), Error> {
        self.context.remove_attribute_type(name, &self.condition).await
    }

    /// All hooks with their statuses, by name. Cost: a scan, and two cached look-ups each.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn hooks(&self) -> Result<Vec<(Hook, HookStatus)>, Error> {
        self.context.hooks().await
    }

    /// One hook with its status. Cost: three cached look-ups.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn hook(&self, name: &str) -> Result<Option<(Hook, HookStatus)>, Error> {
        self.context.hook(name).await
    }

    /// Stores a hook under a name that has none. It is notified of what happens from now on.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyExists`]; else as [`Repository::put_hook`].
    pub async fn create_hook(&self, hook: &Hook) -> Result<(), Error> {
        self.context.put_hook(hook, Over::Nothing, &self.condition).await
    }

    /// Stores a hook, new or in place of the one of its name. A new one is notified of what happens from now on.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for one that cannot be; if the store refuses.
    pub async fn put_hook(&self, hook: Hook) -> Result<(), Error> {
        self.context.put_hook(&hook, Over::Anything, &self.condition).await
    }

    /// Removes a hook.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn remove_hook(&self, name: &str) -> Result<(), Error> {
        self.context.remove_hook(name, &self.condition).await
    }

    /// Writes points of many series. All is checked before anything is stored; then each series is its own atom, all
    /// in one group commit. Outcomes in order.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if anything is refused, naming series, position and reason: points off the raster, values
    /// that are not finite, writes to computed series, a quotation too many or too few.
    pub async fn write_all(
        &self,
        writes: Vec<SeriesWrite>,
        now: Timestamp,
    ) -> Result<Vec<Result<(), Error>>, Error> {
        self.context.write_all(writes, now).await
    }

    /// Removes the points of a range: those that reading it [selects](crate::Layout::selected).
    ///
    /// # Errors
    ///
    /// As [`Repository::write_all`].
    pub async fn delete_range(
        &self,
        series: &Arc<Definition>,
        quotation: Option<i64>,
        range: TimeRange,
        now: Timestamp,
    ) -> Result<(), Error> {
        let edit = Edit::Delete(range);
        let write = SeriesWrite { series: Arc::clone(series), quotation, edit };
        self.write_all(vec![write], now).await?.into_iter().collect()
    }

    /// Stored points of a series as they were written (no raster, no unit, no formula): up to about `points_max` of
    /// those whose time lies in the range, whatever the alignment, from its beginning, appended to `out`; answers where the next page begins.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a computed series, an `as_of` without audit, a quotation too many or too few; if the
    /// store refuses, or stored bytes are damaged.
    pub async fn read_stored(
        &self,
        series: &Definition,
        source: Source,
        range: TimeRange,
        points_max: usize,
        out: &mut Points,
    ) -> Result<Option<i64>, Error> {
        self.context.read_stored(series, source, range, points_max, out).await
    }

    /// Issue times of the quotations of a series, latest first, from before `before` on.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the series has no quotations; if the store refuses.
    pub async fn quotations(
        &self,
        series: &Definition,
        before: Option<i64>,
        count_max: usize,
    ) -> Result<Vec<i64>, Error> {
        self.context.quotations(series, before, count_max).await
    }

    /// The first and last time that a series holds (in one quotation); `None` if it holds nothing.
    ///
    /// # Errors
    ///
    /// As [`Repository::read_stored`].
    pub async fn extent(
        &self,
        series: &Definition,
        quotation: Option<i64>,
    ) -> Result<Option<(i64, i64)>, Error> {
        self.context.extent(series, quotation).await
    }

    /// When values of an audited series changed: writes in the `written` range that touch `range`.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the series is not audited; as [`Repository::read_stored`].
    pub async fn modifications(
        &self,
        series: &Definition,
        quotation: Option<i64>,
        range: TimeRange,
        written: (Timestamp, Timestamp),
    ) -> Result<Vec<Modification>, Error> {
        self.context.modifications(series, quotation, range, written).await
    }
}
