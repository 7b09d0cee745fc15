//! Families whose rows all run apart from the servers of the frame: in this process, say. Such a family says what its rows
//! are, runs them itself, and has nothing that the frame would prepare, load or check.

use anyhow::Result;

use crate::course::{Course, Results};
use crate::report::{RowReport, Table};
use crate::runner::{AnyFamily, listed};
use crate::workloads::{Named, Selection, Workload};

/// A family that runs its rows itself.
pub trait ApartFamily: Sync {
    /// A row, as its workload file has it.
    type Row: Named;

    /// Its name, its title, and all its rows, in the order in which they run.
    ///
    /// # Errors
    ///
    /// If the workload file is not as it should be, which a test excludes.
    fn workload(&self) -> Result<Workload<Self::Row>>;

    /// The heads of the columns by which `campaign list` describes rows, behind the row's name.
    fn columns(&self) -> &'static [&'static str];

    /// The cells under these heads for `row`.
    fn cells(&self, row: &Self::Row) -> Vec<String>;

    /// Runs the rows of `workload`, and adds a report of each to `results`.
    ///
    /// # Errors
    ///
    /// If a row cannot be run; reports of rows before it are kept if they are in `results`.
    fn run(&self, course: &Course, workload: &Workload<Self::Row>, results: &mut Results) -> Result<()>;

    /// Tables that set the rows side by side, goals among them.
    fn tables(&self, course: &Course, rows: &[RowReport]) -> Vec<Table>;
}

/// A family that runs its rows itself, as the frame has it.
#[derive(Debug, Clone, Copy)]
pub struct Apart<F>(pub F);

impl<F: ApartFamily> AnyFamily for Apart<F> {
    fn selection(&self) -> Result<Selection> {
        Ok(self.0.workload()?.selection())
    }

    fn list(&self) -> Result<String> {
        Ok(listed(&self.0.workload()?, self.0.columns(), |row| self.0.cells(row)))
    }

    fn run(&self, course: &Course, selection: &Selection) -> Result<Results> {
        let (workload, mut results) = (self.0.workload()?.of(selection), Results::default());
        let ran = self.0.run(course, &workload, &mut results);
        results.or_fault(ran)?;
        let tables = self.0.tables(course, &results.rows);
        results.tables.splice(0..0, tables);
        Ok(results)
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;
    use serde::Deserialize;

    use super::*;
    use crate::toy::{Reply, Toy};

    #[derive(Deserialize)]
    struct Row {
        id: String,
    }

    impl Named for Row {
        fn id(&self) -> &str {
            &self.id
        }
    }

    /// Runs its rows up to the one called `fails`.
    struct Counting;

    impl ApartFamily for Counting {
        type Row = Row;

        fn workload(&self) -> Result<Workload<Row>> {
            Workload::parse(
                "name = 'counting'\ntitle = 'Counting'\nhardware = 'none'\n[[row]]\nid = 'one'\n[[row]]\nid = 'two'\n[[row]]\nid = 'fails'",
            )
        }

        fn columns(&self) -> &'static [&'static str] {
            &["length"]
        }

        fn cells(&self, row: &Row) -> Vec<String> {
            vec![row.id.len().to_string()]
        }

        fn run(&self, _course: &Course, workload: &Workload<Row>, results: &mut Results) -> Result<()> {
            results.tables.push(Table { title: "of the run".to_owned(), ..Table::default() });
            for row in &workload.rows {
                if row.id == "fails" {
                    bail!("it fails");
                }
                results.rows.push(RowReport { id: row.id.clone(), ..RowReport::default() });
            }
            Ok(())
        }

        fn tables(&self, _course: &Course, rows: &[RowReport]) -> Vec<Table> {
            vec![Table { title: format!("{} rows", rows.len()), ..Table::default() }]
        }
    }

    fn run(beginnings: &str) -> Result<Results> {
        let toy = Toy::start(|_| Reply::ok(""));
        let selection = Apart(Counting).selection().unwrap().narrowed(beginnings).unwrap();
        Apart(Counting).run(&Course::of_toy(&toy), &selection)
    }

    #[test]
    fn the_rows_that_are_selected_run_and_their_tables_come_first() {
        let results = run("one,two").unwrap();
        let ids: Vec<&str> = results.rows.iter().map(|row| row.id.as_str()).collect();
        assert_eq!(ids, ["one", "two"]);
        let titles: Vec<&str> = results.tables.iter().map(|table| table.title.as_str()).collect();
        assert_eq!(titles, ["2 rows", "of the run"]);
        assert!(results.faults.is_empty());
    }

    #[test]
    fn rows_before_an_error_are_kept() {
        let results = run("").unwrap();
        assert_eq!((results.rows.len(), results.faults.len()), (2, 1));
        assert!(results.faults[0].contains("it fails"), "{:?}", results.faults);
        assert!(run("fails").unwrap_err().to_string().contains("it fails"));
    }

    #[test]
    fn its_rows_are_listed() {
        let list = Apart(Counting).list().unwrap();
        assert!(
            list.starts_with("counting: Counting\npublished on: none\n") && list.contains("\nfails  5\n"),
            "{list}"
        );
    }
}
