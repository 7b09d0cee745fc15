//! The front door: a thread of its own that accepts connections, and answers health and metrics by itself.
//!
//! It looks at the first bytes of each plain connection. One that begins by asking for health or metrics it serves to its
//! end; all others, and those in TLS, go to the threads that serve. So a probe is answered even while every one of those
//! is at work on something long. What such a connection asks besides is done by the threads that serve, too: nothing that
//! is not known to be short runs here.

use std::thread::JoinHandle;

use anyhow::Context as _;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::listen::Listening;

/// How far the door is on its way from open to gone.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Phase {
    Open,
    /// Nobody is let in; who is in may stay.
    Closing,
    /// Nobody is let in any more.
    Closed,
    Gone,
}

/// The door's thread; it ends when this is dropped.
pub(crate) struct Door {
    phase: watch::Sender<Phase>,
    thread: Option<JoinHandle<()>>,
}

/// The addresses that are listened on.
pub(crate) struct Listeners {
    pub(crate) main: TcpListener,
    /// For health and metrics alone.
    pub(crate) health: Option<TcpListener>,
}

impl Door {
    /// Lets connections in.
    ///
    /// # Errors
    ///
    /// If there is no thread to be had.
    pub(crate) fn open(listening: std::sync::Arc<Listening>, listeners: Listeners) -> anyhow::Result<Self> {
        // Sockets are watched by the runtime that they were made in.
        let main = listeners.main.into_std().context("the listener cannot be handed on")?;
        let health = listeners.health.map(TcpListener::into_std).transpose();
        let health = health.context("the listener for health cannot be handed on")?;
        Self::start(listening, main, health)
    }

    fn start(
        listening: std::sync::Arc<Listening>,
        main: std::net::TcpListener,
        health: Option<std::net::TcpListener>,
    ) -> anyhow::Result<Self> {
        let (phase, told) = watch::channel(Phase::Open);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("cannot start the thread that accepts connections")?;
        let sender = phase.clone();
        let run = move || {
            let ending = Ending(sender.clone());
            let until_gone = async {
                let main = TcpListener::from_std(main);
                let health = health.map(TcpListener::from_std).transpose();
                match (main, health) {
                    (Ok(main), Ok(health)) => {
                        serve(listening, Listeners { main, health }, &sender, told).await
                    }
                    (Err(error), _) | (_, Err(error)) => {
                        tracing::error!(%error, "connections cannot be accepted");
                    }
                }
            };
            runtime.block_on(until_gone);
            drop(ending);
        };
        let thread = std::thread::Builder::new().name("twinfold-door".to_owned()).spawn(run);
        let thread = thread.context("cannot start the thread that accepts connections")?;
        Ok(Self { phase, thread: Some(thread) })
    }

    /// Returns once nobody is let in any more: after [`Door::close`], or because the thread ended.
    pub(crate) async fn closed(&self) {
        // The sender is ours: it cannot be gone.
        let _ = self.phase.subscribe().wait_for(|phase| *phase >= Phase::Closed).await;
    }

    /// Refuses new connections from here on.
    pub(crate) async fn close(&self) {
        self.phase.send_if_modified(|phase| {
            let is_open = *phase == Phase::Open;
            if is_open {
                *phase = Phase::Closing;
            }
            is_open
        });
        self.closed().await;
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.phase.send_replace(Phase::Gone);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was logged when it happened.
            let _ = thread.join();
        }
    }
}

/// Says that nobody is let in any more when the thread ends, however it does: others wait for that.
struct Ending(watch::Sender<Phase>);

impl Drop for Ending {
    fn drop(&mut self) {
        set_closed(&self.0);
    }
}

fn set_closed(phase: &watch::Sender<Phase>) {
    phase.send_if_modified(|phase| {
        let closing = *phase < Phase::Closed;
        if closing {
            *phase = Phase::Closed;
        }
        closing
    });
}

async fn serve(
    listening: std::sync::Arc<Listening>,
    listeners: Listeners,
    phase: &watch::Sender<Phase>,
    mut told: watch::Receiver<Phase>,
) {
    let sweep = tokio::spawn(std::sync::Arc::clone(&listening).sweep());
    let Listeners { main, health } = listeners;
    let at_health = async {
        match &health {
            Some(health) => listening.accept_health(health).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = listening.accept(&main) => {}
        () = at_health => {}
        _ = told.wait_for(|phase| *phase >= Phase::Closing) => {}
    }
    // Dropping listeners refuses new connections.
    drop((main, health));
    set_closed(phase);
    // An error says that nobody is left to listen.
    let _ = told.wait_for(|phase| *phase == Phase::Gone).await;
    sweep.abort();
}

#[cfg(test)]
mod tests;
