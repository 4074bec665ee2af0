// The engine's page in a browser: who is signed in, and what they look at.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import "./theme.css";
import "../panel/web/page.css";
import "./page.css";
import { call, loseToken, onSignedOut } from "./api";
import { forget, session, signIn, takenCode } from "./session";
import { SignIn } from "./signIn";

const SIGNED_OUT = "Signed out: run `loop-ls ui` for a new code.";

function Page({ problem }: { problem: string }) {
  const [why, setWhy] = useState(problem);
  const [, setSignedIn] = useState(session() !== undefined);
  useEffect(() => {
    onSignedOut(() => {
      setWhy(SIGNED_OUT);
      setSignedIn(false);
    });
  }, []);
  const known = session();
  if (!known) return <SignIn why={why} onSignedIn={() => setSignedIn(true)} />;
  const leave = async (): Promise<void> => {
    await call("page_sign_out");
    loseToken();
  };
  return (
    <main>
      <header class="top">
        <h1>Loops</h1>
        <span class="who">
          {known.user} · {known.role}
        </span>
        <button type="button" class="plain" onClick={() => void leave()}>
          Sign out
        </button>
      </header>
    </main>
  );
}

async function begin(): Promise<void> {
  const root = document.getElementById("app");
  const code = takenCode();
  if (code) forget(); // who comes with a code wants to be whom it lets in
  const problem = code ? await signIn(code) : undefined;
  if (root) render(<Page problem={problem ?? ""} />, root);
}

void begin();
