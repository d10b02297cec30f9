import { type Proof, signWithPasskey } from '@subscription-service/client';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { client, onProofRequested, sentenceOf } from './service.ts';
import type { SecondPart } from './sign-in.tsx';
import { useTexts } from './texts.ts';

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
    const code = String(new FormData(event.currentTarget).get('code')).trim();
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
          {sentenceOf(error, texts.denied)}
        </p>
      )}
      <button type="submit">{texts.confirm}</button>
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

/** Asks the administrator to prove again who he is, before an operation that cannot be undone. */
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
      <button type="button" onClick={() => end(null)}>
        {texts.cancel}
      </button>
    </dialog>
  );
}
