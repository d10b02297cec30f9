import { CabinetError, createPasskey, type Proof, signWithPasskey } from '@subscription-service/client';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { client, onProofRequested, sentenceOf } from './service.ts';
import { useTexts } from './texts.ts';
import { useLoaded } from './use-loaded.ts';

/** What the service answers to the first part of a sign-in with a second factor. */
export interface SecondPart {
  ticket: string;
  methods: string[];
}

/** @returns null for any other error */
export function secondPartOf(error: unknown): SecondPart | null {
  if (!(error instanceof CabinetError) || error.code !== 'second_factor_required') return null;
  return error.detail as unknown as SecondPart;
}

/** A field for a code, or a recovery code, and a button for a passkey, as far as `methods` has them. */
function FactorForm({ methods, onShow }: { methods: string[]; onShow: (proof: Proof | 'passkey') => Promise<void> }) {
  const texts = useTexts();
  const [error, setError] = useState<unknown>(null);
  const show = (proof: Proof | 'passkey') => {
    setError(null);
    onShow(proof).catch(setError);
  };
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const code = String(form.get('code')).trim();
    show(/^\d{6}$/.test(code) ? { code } : { recovery_code: code });
  }
  return (
    <form onSubmit={submit} data-testid="factor-form">
      {methods.includes('passkey') && (
        <button type="button" className="main" onClick={() => show('passkey')}>
          {texts.usePasskey}
        </button>
      )}
      <label>
        {methods.includes('totp') ? texts.code : texts.recoveryCode}
        <input name="code" autoComplete="one-time-code" required minLength={6} maxLength={32} />
      </label>
      {error !== null && (
        <p className="problem" role="alert">
          {sentenceOf(error)}
        </p>
      )}
      <button type="submit" className="plain">
        {texts.confirm}
      </button>
    </form>
  );
}

/** The second part of a sign-in. */
export function SecondStep({ part, onDone }: { part: SecondPart; onDone: () => void }) {
  const { ticket, methods } = part;
  async function show(proof: Proof | 'passkey') {
    const { signIn, signInChallenge } = client.api.secondFactor;
    const form = proof === 'passkey' ? { passkey: await signWithPasskey(await signInChallenge.mutate({ ticket })) } : proof;
    await client.session.start(await signIn.mutate({ ticket, ...form }));
    onDone();
  }
  return (
    <section className="card" data-testid="second-step">
      <FactorForm methods={methods} onShow={show} />
    </section>
  );
}

/** Asks the user to prove again who he is, when the service demands it. */
export function ProofDialog() {
  const texts = useTexts();
  const dialog = useRef<HTMLDialogElement>(null);
  const [question, setQuestion] = useState<{ methods: string[]; answer: (proof: Proof | null) => void } | null>(null);
  useEffect(() => onProofRequested(setQuestion), []);
  useEffect(() => {
    if (question) dialog.current?.showModal();
    else dialog.current?.close();
  }, [question]);
  const end = (proof: Proof | null) => {
    question?.answer(proof);
    setQuestion(null);
  };
  async function show(proof: Proof | 'passkey') {
    if (proof !== 'passkey') end(proof);
    else end({ passkey: await signWithPasskey(await client.api.secondFactor.challenge.mutate()) });
  }
  function submitPassword(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    end({ password: String(new FormData(event.currentTarget).get('password')) });
  }
  return (
    <dialog ref={dialog} className="card" aria-label={texts.proveAgain} onCancel={() => end(null)}>
      <h2>{texts.proveAgain}</h2>
      {question?.methods.includes('password') ? (
        <form onSubmit={submitPassword}>
          <label>
            {texts.password}
            <input name="password" type="password" autoComplete="current-password" required />
          </label>
          <button type="submit" className="main">
            {texts.confirm}
          </button>
        </form>
      ) : question?.methods.some((method) => method !== 'messenger') ? (
        <FactorForm methods={question.methods} onShow={show} />
      ) : (
        <p>{texts.signInAgain}</p>
      )}
      <button type="button" className="plain" onClick={() => end(null)}>
        {texts.cancel}
      </button>
    </dialog>
  );
}

/** The user's second factors; nothing where the service does not offer them. */
export function SecondFactorCard() {
  const texts = useTexts();
  const list = useLoaded(() => client.api.secondFactor.list.query());
  const [secret, setSecret] = useState<string | null>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  if (!list.value?.is_available) return null;
  const { secondFactor } = client.api;

  /** Adding a factor answers a token in which it counts as shown. */
  async function added(answer: { access_token: string; recovery_codes: string[] | null }) {
    await client.session.replaceAccessToken(answer.access_token);
    setSecret(null);
    setCodes(answer.recovery_codes ?? codes);
    list.reload();
  }
  const run = (work: () => Promise<void>) => {
    setError(null);
    work().catch(setError);
  };
  const addPasskey = async () => {
    const response = await createPasskey(await secondFactor.beginPasskey.mutate());
    await added(await secondFactor.addPasskey.mutate({ name: texts.passkey, response }));
  };
  function submitCode(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const code = String(new FormData(event.currentTarget).get('code'));
    run(async () => added(await secondFactor.confirmTotp.mutate({ code })));
  }

  return (
    <section className="card" data-testid="second-factors">
      <h2>{texts.secondFactor}</h2>
      <ul>
        {list.value.factors.map(({ id, kind, name }) => (
          <li key={id}>
            {kind === 'passkey' ? texts.passkey : texts.authenticator}: {name}{' '}
            <button
              type="button"
              className="plain"
              onClick={() =>
                run(async () => {
                  await secondFactor.remove.mutate({ factor_id: id });
                  list.reload();
                })
              }
            >
              {texts.remove}
            </button>
          </li>
        ))}
      </ul>
      {codes && (
        <div data-testid="recovery-codes">
          <p>{texts.keepCodes}</p>
          <pre>{codes.join('\n')}</pre>
        </div>
      )}
      {secret !== null && (
        <form onSubmit={submitCode}>
          <p>
            {texts.enterSecret} <code data-testid="totp-secret">{secret}</code>
          </p>
          <label>
            {texts.code}
            <input name="code" autoComplete="one-time-code" required pattern="\d{6}" />
          </label>
          <button type="submit" className="main">
            {texts.confirm}
          </button>
        </form>
      )}
      {error !== null && (
        <p className="problem" role="alert">
          {sentenceOf(error)}
        </p>
      )}
      <button type="button" className="plain" onClick={() => run(addPasskey)}>
        {texts.addPasskey}
      </button>{' '}
      <button
        type="button"
        className="plain"
        onClick={() => run(async () => setSecret((await secondFactor.beginTotp.mutate({ name: texts.authenticator })).secret))}
      >
        {texts.addAuthenticator}
      </button>
    </section>
  );
}
