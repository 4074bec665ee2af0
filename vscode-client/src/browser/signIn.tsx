// The way in: a code, typed or pasted, where the address brought none that held.
import { useState } from "preact/hooks";
import { signIn } from "./session";

interface Props {
  /** Why it is not signed in. */
  why: string;
  onSignedIn(): void;
}

export function SignIn({ why, onSignedIn }: Props) {
  const [said, setSaid] = useState(why);
  const [busy, setBusy] = useState(false);
  const enter = async (code: string): Promise<void> => {
    setBusy(true);
    const problem = await signIn(code);
    setBusy(false);
    if (problem === undefined) onSignedIn();
    else setSaid(problem);
  };
  return (
    <main class="signin">
      <h1>Loops</h1>
      {said ? (
        <p role="alert" class="problem">
          {said}
        </p>
      ) : null}
      <p>
        Run <code>loop-ls ui</code> in a terminal: it opens this page with a code. Or enter the code that{" "}
        <code>loop-ls ui --no-browser</code> prints behind <code>#code=</code>.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const given = new FormData(event.currentTarget).get("code");
          const code = String(given).trim().replace(/^.*#code=/, "");
          if (code && !busy) void enter(code);
        }}
      >
        <label for="code">Code</label>
        <input id="code" name="code" type="password" autocomplete="off" spellcheck={false} required />
        <button type="submit" class="main" disabled={busy}>
          Sign in
        </button>
      </form>
    </main>
  );
}
