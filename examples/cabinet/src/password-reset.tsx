import { type FormEvent, useState } from 'react';
import { EmailField, PasswordField } from './credential-fields.tsx';
import { MailboxHint } from './mailbox-hint.tsx';
import { client } from './service.ts';
import { Outcome } from './states.tsx';
import { useTexts } from './texts.ts';
import { useAction } from './use-action.ts';

/** Asks for a link to set a new password. The answer does not say whether the address is known. */
export function ForgottenPassword({ email: known, onBack }: { email: string; onBack: () => void }) {
  const texts = useTexts();
  const [email, setEmail] = useState(known);
  const action = useAction('forgot', (input: { email: string }) => client.api.auth.password.forgot.mutate(input));
  function submit(event: FormEvent) {
    event.preventDefault();
    void action.run({ email });
  }
  return (
    <form className="card" onSubmit={submit} data-testid="forgotten-password">
      <h2>{texts.forgottenPassword}</h2>
      <EmailField value={email} onChange={setEmail} error={action.error} />
      <button type="submit" className="main" disabled={action.isBusy}>
        {texts.sendLink}
      </button>
      <Outcome action={action} done={() => texts.resetMailSent} fields={['email']} />
      {action.answer && <MailboxHint />}
      <button type="button" className="plain" onClick={onBack}>
        {texts.toSignIn}
      </button>
    </form>
  );
}

/** What the link of the mail opens. */
export function NewPassword({ token, onDone }: { token: string; onDone: () => void }) {
  const texts = useTexts();
  const [password, setPassword] = useState('');
  const action = useAction('reset', (input: { token: string; password: string }) => client.api.auth.password.reset.mutate(input));
  function submit(event: FormEvent) {
    event.preventDefault();
    void action.run({ token, password });
  }
  return (
    <main className="narrow">
      <form className="card" onSubmit={submit} data-testid="new-password">
        <h1>{texts.newPassword}</h1>
        <PasswordField value={password} onChange={setPassword} error={action.error} isNew />
        {action.answer === null && (
          <button type="submit" className="main" disabled={action.isBusy}>
            {texts.save}
          </button>
        )}
        <Outcome action={action} done={() => texts.passwordChanged} fields={['password']} />
        <button type="button" className="plain" onClick={onDone}>
          {texts.toSignIn}
        </button>
      </form>
    </main>
  );
}
