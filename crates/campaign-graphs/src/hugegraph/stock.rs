//! What there is on a server: people and acquaintances by their numbers, written by which load.

use super::people::People;

/// The numbers that one load wrote: request `i` of user `u` took those from `base + (i * users + u) * batch` on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Span {
    /// The first number.
    pub base: u64,
    /// Elements of a request.
    pub batch: u64,
    /// Requests of each user.
    pub requests: Vec<u64>,
    /// Whether requests failed: then nobody knows which of the numbers are there.
    pub uncertain: bool,
}

impl Span {
    /// The numbers from here on are free.
    pub fn end(&self) -> u64 {
        let longest = self.requests.iter().copied().max().unwrap_or(0);
        self.base + longest * self.requests.len() as u64 * self.batch
    }

    /// How many numbers were written.
    pub fn count(&self) -> u64 {
        self.requests.iter().sum::<u64>() * self.batch
    }

    /// Whether `number` was written by this load.
    pub fn holds(&self, number: u64) -> bool {
        let Some(offset) = number.checked_sub(self.base) else { return false };
        let users = self.requests.len() as u64;
        let request = offset / self.batch.max(1);
        let Some(turn) = request.checked_div(users) else { return false };
        let user = usize::try_from(request % users).expect("less than a length");
        self.requests.get(user).is_some_and(|requests| turn < *requests)
    }
}

/// The numbers of one kind of element on a server.
#[derive(Debug, Clone, Default)]
pub struct Written {
    spans: Vec<Span>,
}

/// What is known of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// It was written.
    There,
    /// It was not written.
    Missing,
    /// It was sent, and something failed.
    Uncertain,
}

impl Written {
    /// The first free number.
    pub fn end(&self) -> u64 {
        self.spans.last().map_or(0, Span::end)
    }

    /// Adds what a load wrote.
    pub fn add(&mut self, span: Span) {
        self.spans.push(span);
    }

    /// Whether `number` is there.
    pub fn knows(&self, number: u64) -> Known {
        match self.spans.iter().find(|span| span.holds(number)) {
            Some(span) if span.uncertain => Known::Uncertain,
            Some(_) => Known::There,
            None => Known::Missing,
        }
    }

    /// How many there are; `None`: something failed.
    pub fn count(&self) -> Option<u64> {
        (!self.spans.iter().any(|span| span.uncertain)).then(|| self.spans.iter().map(Span::count).sum())
    }

    /// The last load's numbers.
    pub fn last(&self) -> Option<&Span> {
        self.spans.last()
    }
}

/// A server's graph, and what was written into it.
#[derive(Debug, Clone)]
pub struct Stock {
    /// Who is there, or can be.
    pub people: People,
    /// The path of the graph.
    pub graph: &'static str,
    /// The id of the label of people.
    pub label: String,
    /// What stands between the ends in the id of an edge, as in `S1:a>1>1>>S1:b`.
    pub middle: String,
    /// People written.
    pub vertices: Written,
    /// Acquaintances written.
    pub edges: Written,
    /// How many people and acquaintances reading rows read.
    pub preloaded: (u64, u64),
    /// The steps of the searches, in words, by row.
    pub searches: Vec<(String, String)>,
}

impl Stock {
    /// An empty graph of `people`.
    pub fn new(people: People, graph: &'static str, label: String) -> Self {
        Self {
            people,
            graph,
            label,
            middle: String::new(),
            vertices: Written::default(),
            edges: Written::default(),
            preloaded: (0, 0),
            searches: Vec::new(),
        }
    }

    /// Appends the id of acquaintance `number`.
    pub fn edge_id(&self, number: u64, out: &mut Vec<u8>) {
        let edge = self.people.acquaintance(number);
        out.push(b'S');
        self.people.id(&self.label, edge.source, out);
        out.extend_from_slice(self.middle.as_bytes());
        out.push(b'S');
        self.people.id(&self.label, edge.target, out);
    }

    /// The id of acquaintance `number` as text.
    pub fn edge_id_text(&self, number: u64) -> String {
        let mut id = Vec::new();
        self.edge_id(number, &mut id);
        String::from_utf8(id).expect("ids are ASCII")
    }

    /// Learns how this server writes the ids of edges, from that of acquaintance `number`; whether it is one.
    pub fn learn_edge_id(&mut self, number: u64, id: &str) -> bool {
        let edge = self.people.acquaintance(number);
        let end = |person| format!("S{}", self.people.id_text(&self.label, person));
        let middle = id.strip_prefix(&end(edge.source)).and_then(|rest| rest.strip_suffix(&end(edge.target)));
        let found = middle.filter(|middle| middle.starts_with('>') && middle.ends_with('>'));
        match found.map(str::to_owned) {
            Some(middle) => {
                self.middle = middle;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_holds_what_its_users_wrote() {
        let span = Span { base: 100, batch: 10, requests: vec![2, 1, 3], uncertain: false };
        let held: Vec<u64> = (0..300).filter(|number| span.holds(*number)).collect();
        // Requests 0, 1, 2 of the first round, 0 and 2 of the second, 2 of the third.
        let expected: Vec<u64> = (100..140).chain(150..160).chain(180..190).collect();
        assert_eq!(held, expected);
        assert_eq!((span.count(), span.end()), (60, 190));
        assert!(!Span::default().holds(0));
    }

    #[test]
    fn both_forms_of_edge_ids_are_learned() {
        for middle in [">1>>", ">7>7>>"] {
            let mut stock = Stock::new(People::new(3, 100), "/graphs/hugegraph", "12".to_owned());
            middle.clone_into(&mut stock.middle);
            let (first, other) = (stock.edge_id_text(5), stock.edge_id_text(105));
            stock.middle.clear();
            assert!(stock.learn_edge_id(5, &first));
            assert_eq!(stock.edge_id_text(105), other);
            assert!(!stock.learn_edge_id(6, &first));
        }
    }
}
