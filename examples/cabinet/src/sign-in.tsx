import { type FormEvent, useState } from 'react';
import { leaveForProvider, originOfVisit, type Provider } from './arrival.tsx';
import { EmailField, PasswordField } from './credential-fields.tsx';
import { DeepLinkSignIn } from './deep-link-sign-in.tsx';
import { LoginWidget } from './login-widget.tsx';
import { MailboxHint } from './mailbox-hint.tsx';
import { ForgottenPassword } from './password-reset.tsx';
import { type SecondPart, SecondStep, secondPartOf } from './second-factor.tsx';
import { client, sentenceOf } from './service.ts';
import { fieldProblem } from './states.tsx';
import { useLanguage, useTexts } from './texts.ts';
import { useLoaded } from './use-loaded.ts';

type Mode = 'sign-in' | 'register' | 'mail-sent' | 'forgotten';

interface Props {
  /** Of a sign-in that began elsewhere. */
  firstPart: SecondPart | null;
  onDone: () => void;
}

/** Every way to sign in that the operator has switched on. */
export function SignIn({ firstPart, onDone }: Props) {
  const texts = useTexts();
  const emailAuth = useLoaded(() => client.api.branding.emailAuth.query());
  const [secondPart, setSecondPart] = useState<SecondPart | null>(firstPart);
  const [mode, setMode] = useState<Mode>('sign-in');
  const [email, setEmail] = useState('');
  const refused = (error: unknown) => {
    const part = secondPartOf(error);
    setSecondPart(part);
    return part !== null;
  };

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
          <p role="status">{texts.mailSent}</p>
          <MailboxHint />
          <button type="button" className="plain" onClick={() => setMode('sign-in')}>
            {texts.toSignIn}
          </button>
        </section>
      ) : mode === 'forgotten' ? (
        <ForgottenPassword email={email} onBack={() => setMode('sign-in')} />
      ) : (
        <>
          {emailAuth.value?.enabled !== false && (
            <EmailForm mode={mode} email={email} onEmail={setEmail} onMode={setMode} onDone={onDone} onRefused={refused} />
          )}
          <OtherWays onDone={onDone} onRefused={refused} />
        </>
      )}
    </main>
  );
}

interface EmailFormProps {
  mode: 'sign-in' | 'register';
  email: string;
  onEmail: (email: string) => void;
  onMode: (mode: Mode) => void;
  onDone: () => void;
  onRefused: (error: unknown) => boolean;
}

function EmailForm({ mode, email, onEmail, onMode, onDone, onRefused }: EmailFormProps) {
  const texts = useTexts();
  const language = useLanguage();
  const [password, setPassword] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);

  async function submit(event: FormEvent) {
    event.preventDefault();
    setIsBusy(true);
    setError(null);
    const { login, registerStandalone } = client.api.auth.email;
    const { referral_code, campaign_slug } = originOfVisit();
    try {
      if (mode === 'sign-in') {
        await client.session.start(await login.mutate({ email, password, campaign_slug }));
        onDone();
      } else {
        const answer = await registerStandalone.mutate({ email, password, language, referral_code });
        onMode(answer.requires_verification ? 'mail-sent' : 'sign-in');
      }
    } catch (problem) {
      if (!onRefused(problem)) setError(problem);
    } finally {
      setIsBusy(false);
    }
  }

  const isAtField = fieldProblem(error, 'email') !== null || fieldProblem(error, 'password') !== null;
  return (
    <form className="card" onSubmit={submit}>
      {/* Two buttons of which one is pressed: the form below is the same for both. */}
      <fieldset className="tabs" aria-label={texts.signInOrRegister}>
        {(['sign-in', 'register'] as const).map((tab) => (
          <button
            type="button"
            key={tab}
            aria-pressed={mode === tab}
            onClick={() => {
              setError(null);
              onMode(tab);
            }}
          >
            {tab === 'sign-in' ? texts.signIn : texts.register}
          </button>
        ))}
      </fieldset>
      <EmailField value={email} onChange={onEmail} error={error} />
      <PasswordField value={password} onChange={setPassword} error={error} isNew={mode === 'register'} />
      {error !== null && !isAtField && (
        <p className="problem" role="alert">
          {sentenceOf(error)}
        </p>
      )}
      <button type="submit" className="main" disabled={isBusy}>
        {mode === 'sign-in' ? texts.signIn : texts.register}
      </button>
      {mode === 'sign-in' && (
        <button type="button" className="quiet" onClick={() => onMode('forgotten')}>
          {texts.forgottenPassword}
        </button>
      )}
    </form>
  );
}

/** The bot, the messenger's button, and other providers. */
function OtherWays({ onDone, onRefused }: { onDone: () => void; onRefused: (error: unknown) => boolean }) {
  const texts = useTexts();
  const widget = useLoaded(() => client.api.branding.messengerWidget.query());
  const providers = useLoaded(() => client.api.oauth.providers.query());
  const [error, setError] = useState<unknown>(null);
  const hasBot = Boolean(widget.value?.bot_username);
  const list = providers.value?.providers ?? [];
  if (!hasBot && list.length === 0) return null;
  return (
    <section className="card other-ways" aria-label={texts.otherWays}>
      <h2>{texts.otherWays}</h2>
      {hasBot && <DeepLinkSignIn onDone={onDone} onRefused={onRefused} />}
      {widget.value && hasBot && <LoginWidget settings={widget.value} />}
      {list.map(({ name, display_name }) => (
        <button
          type="button"
          className="plain"
          key={name}
          onClick={() => leaveForProvider(name as Provider, 'sign-in').catch(setError)}
        >
          {texts.signInWith} {display_name}
        </button>
      ))}
      {error !== null && (
        <p className="problem" role="alert">
          {sentenceOf(error)}
        </p>
      )}
    </section>
  );
}
