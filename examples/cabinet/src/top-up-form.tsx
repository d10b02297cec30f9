import { type FormEvent, useEffect, useState } from 'react';
import { client } from './service.ts';
import { Field, Outcome } from './states.tsx';
import { useTexts } from './texts.ts';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

type Method = Awaited<ReturnType<typeof client.api.balance.paymentMethods.query>>[number];

/** The messenger's Stars are paid with an invoice of the messenger. */
const STARS = 'messenger_stars';

interface PaymentOption {
  id: string;
  name: string;
}

function optionsOf(method: Method): PaymentOption[] {
  return (method.options ?? []).flatMap(({ id, name }) =>
    typeof id === 'string' ? [{ id, name: typeof name === 'string' ? name : id }] : [],
  );
}

/** Kopeks of an amount that was entered in rubles. */
export function kopeksOf(rubles: string): number {
  return Math.round(Number(rubles.replace(',', '.')) * 100);
}

/** Starts a top-up and opens the payment page. @param atLeastKopeks what is missing, as a suggestion */
export function TopUpForm({ atLeastKopeks }: { atLeastKopeks?: number }) {
  const texts = useTexts();
  const methods = useLoaded(() => client.api.balance.paymentMethods.query());
  const [rubles, setRubles] = useState(atLeastKopeks === undefined ? '500' : String(Math.ceil(atLeastKopeks / 100)));
  const [methodId, setMethodId] = useState('');
  const [option, setOption] = useState('');
  const [payUrl, setPayUrl] = useState<string | null>(null);
  const available = methods.value?.filter(({ is_available }) => is_available) ?? [];
  const method = available.find(({ id }) => id === methodId) ?? available[0];
  const options = method ? optionsOf(method) : [];

  const action = useAction(
    'top-up',
    async (input: { amount_kopeks: number; payment_method: string; payment_option?: string }, call) => {
      const { balance } = client.api;
      if (input.payment_method !== STARS) return (await balance.topup.mutate(input, call)).payment_url;
      return (await balance.starsInvoice.mutate({ amount_kopeks: input.amount_kopeks }, call)).invoice_url;
    },
    (url) => {
      setPayUrl(url);
      window.open(url, '_blank', 'noopener');
    },
  );

  useEffect(() => client.live.onEvent('balance.topup', () => setPayUrl(null)), []);

  if (methods.value !== null && !method) return <p className="soft">{texts.noMethods}</p>;
  if (!method) return <p className="soft loading">{texts.loading}</p>;

  function topUp(event: FormEvent) {
    event.preventDefault();
    if (!method) return;
    const chosen = options.find(({ id }) => id === option) ?? options[0];
    void action.run({
      amount_kopeks: kopeksOf(rubles),
      payment_method: method.id,
      ...(chosen ? { payment_option: chosen.id } : {}),
    });
  }

  return (
    <>
      <form className="row" onSubmit={topUp}>
        <Field label={texts.amount} error={action.error} path="amount_kopeks">
          {(attributes) => (
            <input
              {...attributes}
              name="amount"
              type="number"
              min={method.min_amount_kopeks / 100}
              max={method.max_amount_kopeks / 100}
              step="0.01"
              required
              value={rubles}
              onChange={(event) => setRubles(event.target.value)}
            />
          )}
        </Field>
        <Field label={texts.method}>
          {(attributes) => (
            <select {...attributes} name="method" value={method.id} onChange={(event) => setMethodId(event.target.value)}>
              {available.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        {options.length > 0 && (
          <Field label={texts.methodOption}>
            {(attributes) => (
              <select {...attributes} value={option || options[0]?.id} onChange={(event) => setOption(event.target.value)}>
                {options.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <button type="submit" className="main" disabled={action.isBusy} data-testid="topup">
          {texts.topUp}
        </button>
      </form>
      <Outcome action={action} fields={['amount_kopeks']} />
      {payUrl && (
        <p>
          <a href={payUrl} target="_blank" rel="noreferrer" data-testid="pay-link">
            {texts.payPage}
          </a>
        </p>
      )}
    </>
  );
}
