import { CabinetError } from '@subscription-service/client';
import { type FormEvent, useState } from 'react';
import { SecondStep } from './second-factor.tsx';
import { client, sentenceOf } from './service.ts';
import { useTexts } from './texts.ts';

/** What the service answers to the first part of a sign-in with a second factor. */
export interface SecondPart {
  ticket: string;
  methods: string[];
}

export function SignIn({ onDone }: { onDone: () => void }) {
  const texts = useTexts();
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [secondPart, setSecondPart] = useState<SecondPart | null>(null);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setIsBusy(true);
    setError(null);
    try {
      const input = { email: String(form.get('email')), password: String(form.get('password')) };
      await client.session.start(await client.api.auth.email.login.mutate(input));
      onDone();
    } catch (problem) {
      if (problem instanceof CabinetError && problem.code === 'second_factor_required') {
        setSecondPart(problem.detail as unknown as SecondPart);
      } else setError(problem);
    } finally {
      setIsBusy(false);
    }
  }

  return (
    <main className="narrow">
      <h1>{texts.title}</h1>
      {secondPart ? (
        <SecondStep part={secondPart} onDone={onDone} />
      ) : (
        <form className="card" onSubmit={submit}>
          <label>
            {texts.email}
            <input name="email" type="email" autoComplete="username" required />
          </label>
          <label>
            {texts.password}
            <input name="password" type="password" autoComplete="current-password" required />
          </label>
          {error !== null && (
            <p className="problem" role="alert">
              {sentenceOf(error, texts.denied)}
            </p>
          )}
          <button type="submit" className="main" disabled={isBusy}>
            {texts.signIn}
          </button>
        </form>
      )}
    </main>
  );
}
