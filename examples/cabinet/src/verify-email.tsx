import { useEffect, useState } from 'react';
import { client, sentenceOf } from './service.ts';
import { useTexts } from './texts.ts';

/** A link can be used once, so it is sent once, however often the screen is mounted. */
const attempts = new Map<string, Promise<void>>();

function verify(token: string): Promise<void> {
  const running =
    attempts.get(token) ?? client.api.auth.email.verify.mutate({ token }).then((answer) => client.session.start(answer));
  attempts.set(token, running);
  return running;
}

export function VerifyEmail({ onDone, onFailed }: { onDone: () => void; onFailed: () => void }) {
  const texts = useTexts();
  const [error, setError] = useState<unknown>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the address is read once
  useEffect(() => {
    verify(new URLSearchParams(location.search).get('token') ?? '').then(onDone, setError);
  }, []);

  return (
    <main className="narrow">
      <section className="card">
        {error === null ? (
          <p>{texts.verifying}</p>
        ) : (
          <>
            <h2>{texts.verifyFailed}</h2>
            <p className="problem">{sentenceOf(error)}</p>
            <button type="button" className="main" onClick={onFailed}>
              {texts.toSignIn}
            </button>
          </>
        )}
      </section>
    </main>
  );
}
