import { type FormEvent, useState } from 'react';
import { useAccount } from './account-state.tsx';
import { leaveForProvider, type Provider } from './arrival.tsx';
import { EmailField, PasswordField } from './credential-fields.tsx';
import { MergeAccounts } from './merge-accounts.tsx';
import { SecondFactorCard } from './second-factor.tsx';
import { client } from './service.ts';
import { Field, LoadedView, Outcome } from './states.tsx';
import { useTexts } from './texts.ts';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

/** How the user signs in. `#/account/TOKEN` shows two accounts that can be merged. */
export function AccountView({ argument }: { argument: string | null }) {
  const { me } = useAccount();
  return (
    <>
      {argument && <MergeAccounts token={argument} />}
      <div className="columns">
        <LinkedProviders />
        {me.value && (me.value.email ? <ChangeEmail /> : <LinkEmail />)}
      </div>
      <SecondFactorCard />
    </>
  );
}

const OAUTH: readonly string[] = ['discord', 'google', 'vk', 'yandex'] satisfies Provider[];

function LinkedProviders() {
  const texts = useTexts();
  const linked = useLoaded(() => client.api.accountLinking.linkedProviders.query());
  const offered = useLoaded(() => client.api.oauth.providers.query());
  const link = useAction('link', (input: { provider: Provider }) => leaveForProvider(input.provider, 'link'));
  const unlink = useAction(
    'unlink',
    (input: { provider: Provider }) => client.api.accountLinking.unlink.mutate(input),
    linked.reload,
  );
  const names = new Set(offered.value?.providers.map(({ name }) => name));
  return (
    <section className="card" data-testid="providers">
      <h2>{texts.waysToSignIn}</h2>
      <LoadedView from={linked}>
        {({ providers }) => (
          <ul className="rows">
            {providers.map(({ provider, linked: isLinked, identifier }) => (
              <li key={provider}>
                <span>
                  {texts.providers[provider] ?? provider}
                  {identifier && <span className="soft"> {identifier}</span>}
                </span>
                {isLinked && !OAUTH.includes(provider) && <span className="state active">{texts.linked}</span>}
                {isLinked && OAUTH.includes(provider) && (
                  <button
                    type="button"
                    className="plain"
                    disabled={unlink.isBusy}
                    onClick={() => void unlink.run({ provider: provider as Provider })}
                  >
                    {texts.unlink}
                  </button>
                )}
                {!isLinked && names.has(provider) && (
                  <button
                    type="button"
                    className="plain"
                    disabled={link.isBusy}
                    onClick={() => void link.run({ provider: provider as Provider })}
                  >
                    {texts.link}
                  </button>
                )}
              </li>
            ))}
          </ul>
        )}
      </LoadedView>
      <Outcome action={link} />
      <Outcome action={unlink} />
    </section>
  );
}

/** For users of the messenger. */
function LinkEmail() {
  const texts = useTexts();
  const { me } = useAccount();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const action = useAction(
    'link-email',
    (input: { email: string; password: string }) => client.api.auth.email.register.mutate(input),
    me.reload,
  );
  function submit(event: FormEvent) {
    event.preventDefault();
    void action.run({ email, password });
  }
  return (
    <form className="card" onSubmit={submit} data-testid="link-email">
      <h2>{texts.linkEmail}</h2>
      <EmailField value={email} onChange={setEmail} error={action.error} />
      <PasswordField value={password} onChange={setPassword} error={action.error} isNew />
      <button type="submit" className="plain" disabled={action.isBusy}>
        {texts.save}
      </button>
      <Outcome action={action} done={() => texts.mailSent} fields={['email', 'password']} />
    </form>
  );
}

function ChangeEmail() {
  const texts = useTexts();
  const { me } = useAccount();
  const change = client.api.auth.email.change;
  const status = useLoaded(() => change.status.query());
  const [email, setEmail] = useState('');
  const [code, setCode] = useState('');
  const request = useAction('change-email', (input: { new_email: string }) => change.request.mutate(input), status.reload);
  const verify = useAction(
    'verify-email-change',
    (input: { code: string }) => change.verify.mutate(input),
    () => {
      status.reload();
      me.reload();
    },
  );
  const cancel = useAction('cancel-email-change', (_input: null) => change.cancel.mutate(), status.reload);
  function submit(event: FormEvent) {
    event.preventDefault();
    if (status.value?.pending) void verify.run({ code: code.trim() });
    else void request.run({ new_email: email });
  }
  return (
    <section className="card" data-testid="change-email">
      <h2>{texts.changeEmail}</h2>
      <LoadedView from={status}>
        {({ pending, new_email }) => (
          <form onSubmit={submit}>
            {pending ? (
              <Field label={texts.code} hint={`${texts.codeSentTo} ${new_email}`} error={verify.error} path="code">
                {(attributes) => (
                  <input
                    {...attributes}
                    autoComplete="one-time-code"
                    required
                    value={code}
                    onChange={(event) => setCode(event.target.value)}
                  />
                )}
              </Field>
            ) : (
              <EmailField value={email} onChange={setEmail} error={request.error} label={texts.newEmail} path="new_email" />
            )}
            <div className="buttons">
              <button type="submit" className="plain" disabled={request.isBusy || verify.isBusy}>
                {pending ? texts.confirm : texts.sendCode}
              </button>
              {pending && (
                <button type="button" className="plain" disabled={cancel.isBusy} onClick={() => void cancel.run(null)}>
                  {texts.cancel}
                </button>
              )}
            </div>
          </form>
        )}
      </LoadedView>
      <Outcome action={request} fields={['new_email']} />
      <Outcome action={verify} done={({ message }) => message} fields={['code']} />
    </section>
  );
}
