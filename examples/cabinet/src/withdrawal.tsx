import { type FormEvent, useState } from 'react';
import { client } from './service.ts';
import { Field, LoadedView, Outcome } from './states.tsx';
import { dateAndTime, money, useLanguage, useTexts } from './texts.ts';
import { kopeksOf } from './top-up-form.tsx';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

/** Withdrawal of what was earned; nothing where the operator offers none. */
export function WithdrawalCard() {
  const texts = useTexts();
  const language = useLanguage();
  const terms = useLoaded(() => client.api.withdrawal.balance.query());
  const history = useLoaded(() => client.api.withdrawal.history.query());
  const [rubles, setRubles] = useState('');
  const [details, setDetails] = useState('');
  const reload = () => {
    terms.reload();
    history.reload();
  };
  const create = useAction(
    'withdrawal',
    (input: { amount_kopeks: number; payment_details: string }, call) => client.api.withdrawal.create.mutate(input, call),
    reload,
  );
  const cancel = useAction(
    'cancel-withdrawal',
    (input: { request_id: number }, call) => client.api.withdrawal.cancel.mutate(input, call),
    reload,
  );
  if (!terms.value?.is_withdrawal_enabled) return null;
  function submit(event: FormEvent) {
    event.preventDefault();
    void create.run({ amount_kopeks: kopeksOf(rubles), payment_details: details.trim() });
  }
  const { available_total, pending, min_amount_kopeks, can_request, cannot_request_reason, requisites_text } = terms.value;
  return (
    <section className="card" data-testid="withdrawal">
      <h2>{texts.withdrawal}</h2>
      <dl>
        <dt>{texts.available}</dt>
        <dd>{money(available_total, language)}</dd>
        <dt>{texts.waiting}</dt>
        <dd>{money(pending, language)}</dd>
      </dl>
      {can_request ? (
        <form onSubmit={submit}>
          <Field
            label={texts.amount}
            hint={`${texts.from} ${money(min_amount_kopeks, language)}`}
            error={create.error}
            path="amount_kopeks"
          >
            {(attributes) => (
              <input
                {...attributes}
                type="number"
                required
                step="0.01"
                min={min_amount_kopeks / 100}
                max={available_total / 100}
                value={rubles}
                onChange={(event) => setRubles(event.target.value)}
              />
            )}
          </Field>
          <Field label={texts.paymentDetails} hint={requisites_text} error={create.error} path="payment_details">
            {(attributes) => (
              <textarea {...attributes} rows={2} required value={details} onChange={(event) => setDetails(event.target.value)} />
            )}
          </Field>
          <button type="submit" className="main" disabled={create.isBusy || create.repeat !== null}>
            {texts.withdraw}
          </button>
        </form>
      ) : (
        <p className="soft">{cannot_request_reason}</p>
      )}
      <Outcome action={create} done={() => texts.withdrawalRequested} fields={['amount_kopeks', 'payment_details']} />
      <LoadedView from={history} isEmpty={({ items }) => items.length === 0} empty={texts.nothingYet}>
        {({ items }) => (
          <ul className="rows">
            {items.map((one) => (
              <li key={one.id}>
                <span>
                  {money(one.amount_kopeks, language)}
                  <span className="soft"> {dateAndTime(one.created_at, language)}</span>
                  {one.admin_comment && <span className="soft block">{one.admin_comment}</span>}
                </span>
                <span className="buttons">
                  <span className="state">{texts.withdrawalStates[one.status] ?? one.status}</span>
                  {one.status === 'pending' && (
                    <button
                      type="button"
                      className="plain"
                      disabled={cancel.isBusy}
                      onClick={() => void cancel.run({ request_id: one.id })}
                    >
                      {texts.cancel}
                    </button>
                  )}
                </span>
              </li>
            ))}
          </ul>
        )}
      </LoadedView>
      <Outcome action={cancel} />
    </section>
  );
}
