import { type FormEvent, useState } from 'react';
import { useAccount } from './account-state.tsx';
import { PaymentSummary } from './payment-summary.tsx';
import { client } from './service.ts';
import { Field, LoadedView, Outcome } from './states.tsx';
import { money, useLanguage, useTexts } from './texts.ts';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

type GiftConfig = Awaited<ReturnType<typeof client.api.gift.config.query>>;

interface GiftOrder {
  tariff_id: number;
  period_days: number;
  recipient_type?: string;
  recipient_value?: string;
  gift_message?: string;
  payment_mode: 'balance' | 'gateway';
  payment_method?: string;
  quote: string;
}

/** Subscriptions for somebody else, and those that somebody gave. */
export function Gifts() {
  const texts = useTexts();
  const { balance } = useAccount();
  const config = useLoaded(() => client.api.gift.config.query(), balance.value?.balance_kopeks);
  const sent = useLoaded(() => client.api.gift.sent.query());
  return (
    <>
      <div className="columns">
        <section className="card" data-testid="gift-order">
          <h2>{texts.giveGift}</h2>
          <LoadedView
            from={config}
            isEmpty={({ is_enabled, tariffs }) => !is_enabled || tariffs.length === 0}
            empty={texts.noGifts}
          >
            {(value) => <GiftForm config={value} onBought={sent.reload} />}
          </LoadedView>
        </section>
        <ReceivedGifts />
      </div>
      <section className="card" data-testid="sent-gifts">
        <h2>{texts.sentGifts}</h2>
        <LoadedView from={sent} isEmpty={(value) => value.length === 0} empty={texts.nothingYet}>
          {(value) => (
            <ul className="rows">
              {value.map((gift) => (
                <li key={gift.token}>
                  <span>
                    {gift.tariff_name}, {gift.period_days} {texts.daysShort}
                    <span className="soft">
                      {' '}
                      {gift.gift_recipient_value ?? texts.giftCode}
                      {gift.activated_by_username && ` → ${gift.activated_by_username}`}
                    </span>
                  </span>
                  <code className="code">{gift.token}</code>
                </li>
              ))}
            </ul>
          )}
        </LoadedView>
      </section>
    </>
  );
}

type RecipientType = 'code' | 'email' | 'messenger';
const RECIPIENTS: RecipientType[] = ['code', 'email', 'messenger'];

function GiftForm({ config, onBought }: { config: GiftConfig; onBought: () => void }) {
  const texts = useTexts();
  const { reload } = useAccount();
  const [tariffId, setTariffId] = useState(config.tariffs[0]!.id);
  const [days, setDays] = useState<number | null>(null);
  const [recipientType, setRecipientType] = useState<RecipientType>('code');
  const [recipient, setRecipient] = useState('');
  const [message, setMessage] = useState('');
  const [method, setMethod] = useState('');
  const tariff = config.tariffs.find(({ id }) => id === tariffId) ?? config.tariffs[0]!;
  const period = tariff.periods.find((one) => one.days === days) ?? tariff.periods[0];

  const action = useAction(
    'gift',
    (input: GiftOrder, call) => client.api.gift.purchase.mutate(input, call),
    ({ payment_url }) => {
      if (payment_url) window.open(payment_url, '_blank', 'noopener');
      reload();
      onBought();
    },
  );
  if (!period) return <p className="soft">{texts.noGifts}</p>;
  const order: GiftOrder = {
    tariff_id: tariff.id,
    period_days: period.days,
    ...(recipientType === 'code' ? {} : { recipient_type: recipientType, recipient_value: recipient.trim() }),
    ...(message.trim() === '' ? {} : { gift_message: message.trim() }),
    ...(method === '' ? { payment_mode: 'balance' } : { payment_mode: 'gateway', payment_method: method }),
    quote: period.quote,
  };
  return (
    <>
      <Field label={texts.tariff}>
        {(attributes) => (
          <select {...attributes} value={tariff.id} onChange={(event) => setTariffId(Number(event.target.value))}>
            {config.tariffs.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={texts.period}>
        {(attributes) => <PeriodSelect attributes={attributes} periods={tariff.periods} days={period.days} onChange={setDays} />}
      </Field>
      <Field label={texts.recipient}>
        {(attributes) => (
          <select
            {...attributes}
            value={recipientType}
            onChange={(event) => setRecipientType(event.target.value as RecipientType)}
          >
            {RECIPIENTS.map((type) => (
              <option key={type} value={type}>
                {texts.recipientTypes[type]}
              </option>
            ))}
          </select>
        )}
      </Field>
      {recipientType !== 'code' && (
        <Field label={texts.recipientTypes[recipientType]} error={action.error} path="recipient_value">
          {(attributes) => (
            <input
              {...attributes}
              required
              maxLength={255}
              value={recipient}
              onChange={(event) => setRecipient(event.target.value)}
            />
          )}
        </Field>
      )}
      <Field label={texts.giftMessage} error={action.error} path="gift_message">
        {(attributes) => (
          <textarea
            {...attributes}
            rows={2}
            maxLength={1000}
            value={message}
            onChange={(event) => setMessage(event.target.value)}
          />
        )}
      </Field>
      <Field label={texts.method}>
        {(attributes) => (
          <select {...attributes} value={method} onChange={(event) => setMethod(event.target.value)}>
            <option value="">{texts.fromBalance}</option>
            {config.payment_methods.map(({ method_id, display_name }) => (
              <option key={method_id} value={method_id}>
                {display_name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {method === '' ? (
        <PaymentSummary
          priceKopeks={period.price_kopeks}
          originalPriceKopeks={period.original_price_kopeks}
          action={action}
          onPay={() => void action.run(order)}
          payLabel={texts.giveGift}
          done={({ warning }) => warning ?? texts.giftBought}
          savesOrder={false}
        />
      ) : (
        <>
          <button
            type="button"
            className="main"
            disabled={action.isBusy || action.repeat !== null}
            onClick={() => void action.run(order)}
          >
            {texts.giveGift}
          </button>
          <Outcome
            action={action}
            done={({ payment_url }) =>
              payment_url && (
                <a href={payment_url} target="_blank" rel="noreferrer">
                  {texts.payPage}
                </a>
              )
            }
          />
        </>
      )}
    </>
  );
}

interface PeriodSelectProps {
  attributes: { id: string };
  periods: GiftConfig['tariffs'][number]['periods'];
  days: number;
  onChange: (days: number) => void;
}

function PeriodSelect({ attributes, periods, days, onChange }: PeriodSelectProps) {
  const texts = useTexts();
  const language = useLanguage();
  return (
    <select {...attributes} value={days} onChange={(event) => onChange(Number(event.target.value))}>
      {periods.map((one) => (
        <option key={one.days} value={one.days}>
          {one.days} {texts.daysShort} · {money(one.price_kopeks, language)}
        </option>
      ))}
    </select>
  );
}

function ReceivedGifts() {
  const texts = useTexts();
  const { reload } = useAccount();
  const received = useLoaded(() => client.api.gift.received.query());
  const pending = useLoaded(() => client.api.gift.pending.query());
  const [code, setCode] = useState('');
  const activate = useAction(
    'activate-gift',
    (input: { code: string }, call) => client.api.gift.activate.mutate(input, call),
    () => {
      setCode('');
      received.reload();
      pending.reload();
      reload();
    },
  );
  function submit(event: FormEvent) {
    event.preventDefault();
    void activate.run({ code: code.trim() });
  }
  return (
    <section className="card" data-testid="received-gifts">
      <h2>{texts.receivedGifts}</h2>
      <form className="inline" onSubmit={submit}>
        <Field label={texts.giftCode} error={activate.error} path="code">
          {(attributes) => (
            <input {...attributes} required autoComplete="off" value={code} onChange={(event) => setCode(event.target.value)} />
          )}
        </Field>
        <button type="submit" className="plain" disabled={activate.isBusy}>
          {texts.activate}
        </button>
      </form>
      <Outcome action={activate} done={({ tariff_name }) => `${texts.giftActivated} ${tariff_name ?? ''}`} fields={['code']} />
      <ul className="rows">
        {pending.value?.map((gift) => (
          <li key={gift.token}>
            <span>
              {gift.tariff_name}, {gift.period_days} {texts.daysShort}
              <span className="soft"> {gift.gift_message ?? gift.sender_display}</span>
            </span>
            <button
              type="button"
              className="main"
              disabled={activate.isBusy}
              onClick={() => void activate.run({ code: gift.token })}
            >
              {texts.activate}
            </button>
          </li>
        ))}
        {received.value?.map((gift) => (
          <li key={gift.token}>
            <span>
              {gift.tariff_name}, {gift.period_days} {texts.daysShort}
              <span className="soft"> {gift.gift_message ?? gift.sender_display}</span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
