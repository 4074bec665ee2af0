// The engine's page in a browser: who is signed in, and what they look at.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import "./theme.css";
import "../panel/web/page.css";
import "./page.css";
import { ago } from "../runs/amounts";
import { call, loseToken, onSignedOut } from "./api";
import { Compare } from "./compare";
import { Engine } from "./engine";
import { addressTo, type Route, routeOf } from "./route";
import { Runs } from "./runs";
import { RunView } from "./runView";
import { forget, session, signIn, takenCode } from "./session";
import { SignIn } from "./signIn";
import { Start } from "./start";
import { Changes, Outputs, WholeText } from "./texts";

const SIGNED_OUT = "Signed out: run `loop-ls ui` for a new code.";

function Page({ problem }: { problem: string }) {
  const [why, setWhy] = useState(problem);
  const [engine, setEngine] = useState<Engine | undefined>();
  const begin = (): void => setEngine(new Engine());
  useEffect(() => {
    onSignedOut(() => {
      setWhy(SIGNED_OUT);
      setEngine(undefined);
    });
    if (session()) begin();
  }, []);
  useEffect(() => {
    engine?.start();
    return () => engine?.stop();
  }, [engine]);
  if (!engine) return session() ? null : <SignIn why={why} onSignedIn={begin} />;
  return <SignedIn engine={engine} />;
}

function SignedIn({ engine }: { engine: Engine }) {
  const known = session();
  const route = useRoute();
  const [told, setTold] = useState("");
  useEffect(() => {
    const part = engine.onTold(setTold);
    return () => part.dispose();
  }, [engine]);
  const leave = async (): Promise<void> => {
    await call("page_sign_out");
    loseToken();
  };
  const home = route.path.length === 0;
  return (
    <div
      class="all"
      onKeyDown={(event) => {
        if (event.key === "Escape" && !event.defaultPrevented && told) setTold("");
      }}
    >
      <header class="top">
        <a class="brand" href={addressTo([])} aria-current={home ? "page" : undefined}>
          Loops
        </a>
        <span class="who">
          {known?.user} · {known?.role}
        </span>
        <button type="button" class="plain" onClick={() => void leave()}>
          Sign out
        </button>
      </header>
      <Link engine={engine} />
      {told ? (
        <div class="bar bad" role="alert">
          <span>{told}</span>
          <button type="button" class="plain" onClick={() => setTold("")}>
            Close
          </button>
        </div>
      ) : null}
      <Place engine={engine} route={route} acts={known !== undefined && known.role !== "viewer"} />
    </div>
  );
}

function Place({ engine, route, acts }: { engine: Engine; route: Route; acts: boolean }) {
  const { path, query } = route;
  const [first, id, part] = path;
  if (first === undefined) return <Runs engine={engine} query={query} acts={acts} />;
  if (first === "compare") return <Compare engine={engine} query={query} />;
  if (first === "start") return <Start query={query} />;
  if (first === "runs" && id) {
    if (part === "text") return <WholeText engine={engine} id={id} query={query} />;
    if (part === "changes") return <Changes engine={engine} id={id} />;
    if (part === "diff") return <Outputs engine={engine} id={id} query={query} />;
    return <RunView key={id} engine={engine} id={id} />;
  }
  return (
    <main class="page">
      <p>
        This page does not exist. <a href={addressTo([])}>All runs</a>
      </p>
    </main>
  );
}

/** What keeps the page from being up to date: the engine is gone, since then. */
function Link({ engine }: { engine: Engine }) {
  const [gone, setGone] = useState<number>();
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const part = engine.onLinked((up) => {
      setNow(Date.now());
      setGone((before) => (up ? undefined : (before ?? Date.now())));
    });
    return () => part.dispose();
  }, [engine]);
  useEffect(() => {
    document.documentElement.classList.toggle("stale", gone !== undefined);
    if (gone === undefined) return;
    const timer = setInterval(() => setNow(Date.now()), 5000);
    return () => clearInterval(timer);
  }, [gone]);
  if (gone === undefined) return null;
  return (
    <div class="bar wait" role="status">
      <span>
        The engine is not responding; what you see is as of {ago((now - gone) / 1000)}. It is tried again by itself; <code>loop-ls ui</code> starts it.
      </span>
    </div>
  );
}

function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const hear = (): void => setHash(location.hash);
    window.addEventListener("hashchange", hear);
    return () => window.removeEventListener("hashchange", hear);
  }, []);
  return routeOf(hash);
}

async function begin(): Promise<void> {
  const root = document.getElementById("app");
  const code = takenCode();
  if (code) forget(); // who comes with a code wants to be whom it lets in
  const problem = code ? await signIn(code) : undefined;
  if (!root) return;
  root.replaceChildren();
  render(<Page problem={problem ?? ""} />, root);
}

void begin();
// A code that is pasted into the address of this page.
window.addEventListener("hashchange", () => {
  if (location.hash.startsWith("#code=")) location.reload();
});
