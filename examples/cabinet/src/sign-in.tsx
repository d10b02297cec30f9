import { CabinetError } from '@subscription-service/client';
import { type FormEvent, useState } from 'react';
import { type SecondPart, SecondStep, secondPartOf } from './second-factor.tsx';
import { API_URL, client, sentenceOf } from './service.ts';
import { useLanguage, useTexts } from './texts.ts';
import { useLoaded } from './use-loaded.ts';

type Mode = 'sign-in' | 'register' | 'mail-sent';

export function SignIn({ onDone }: { onDone: () => void }) {
  const texts = useTexts();
  const language = useLanguage();
  const [mode, setMode] = useState<Mode>('sign-in');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [secondPart, setSecondPart] = useState<SecondPart | null>(null);
  const fieldError = (path: string) => {
    const problem = error instanceof CabinetError ? error.fieldErrors.find((field) => field.path === path) : undefined;
    if (!problem) return undefined;
    return problem.type === 'string_too_short' ? `${texts.tooShort} ${problem.bounds.min_length}` : texts.invalidValue;
  };

  async function submit(event: FormEvent) {
    event.preventDefault();
    setIsBusy(true);
    setError(null);
    try {
      if (mode === 'sign-in') {
        await client.session.start(await client.api.auth.email.login.mutate({ email, password }));
        onDone();
      } else {
        const answer = await client.api.auth.email.registerStandalone.mutate({ email, password, language });
        setMode(answer.requires_verification ? 'mail-sent' : 'sign-in');
      }
    } catch (problem) {
      const next = secondPartOf(problem);
      if (next) setSecondPart(next);
      else setError(problem);
    } finally {
      setIsBusy(false);
    }
  }

  return (
    <main className="narrow">
      <header className="hero">
        <h1>{texts.title}</h1>
        <p>{texts.tagline}</p>
      </header>
      {secondPart ? (
        <SecondStep part={secondPart} onDone={onDone} />
      ) : mode === 'mail-sent' ? (
        <section className="card" data-testid="mail-sent">
          <p>{texts.mailSent}</p>
          <MailboxHint />
          <button type="button" className="plain" onClick={() => setMode('sign-in')}>
            {texts.toSignIn}
          </button>
        </section>
      ) : (
        <form className="card" onSubmit={submit}>
          <div className="tabs" role="tablist">
            {(['sign-in', 'register'] as const).map((tab) => (
              <button type="button" role="tab" key={tab} aria-selected={mode === tab} onClick={() => setMode(tab)}>
                {tab === 'sign-in' ? texts.signIn : texts.register}
              </button>
            ))}
          </div>
          <label>
            {texts.email}
            <input
              name="email"
              type="email"
              autoComplete="email"
              required
              value={email}
              onChange={(event) => setEmail(event.target.value)}
            />
            {fieldError('email') && <span className="problem">{fieldError('email')}</span>}
          </label>
          <label>
            {texts.password}
            <input
              name="password"
              type="password"
              autoComplete={mode === 'sign-in' ? 'current-password' : 'new-password'}
              required
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
            {mode === 'register' && !fieldError('password') && <span className="hint">{texts.passwordHint}</span>}
            {fieldError('password') && <span className="problem">{fieldError('password')}</span>}
          </label>
          {error !== null && !(error instanceof CabinetError && error.fieldErrors.length > 0) && (
            <p className="problem" role="alert">
              {sentenceOf(error)}
            </p>
          )}
          <button type="submit" className="main" disabled={isBusy}>
            {mode === 'sign-in' ? texts.signIn : texts.register}
          </button>
        </form>
      )}
    </main>
  );
}

/** Only a sandbox has a mailbox that everyone can read. */
function MailboxHint() {
  const texts = useTexts();
  const { value } = useLoaded(() => client.open.health.check.query());
  if (!value?.sandbox.includes('mail')) return null;
  return (
    <p className="hint">
      {texts.sandboxMail}{' '}
      <a href={`${API_URL}/sandbox`} target="_blank" rel="noreferrer">
        {texts.openMailbox}
      </a>
    </p>
  );
}
