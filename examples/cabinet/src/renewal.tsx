import { type FormEvent, useState } from 'react';
import { type Subscription, useAccount } from './account-state.tsx';
import { PaymentSummary } from './payment-summary.tsx';
import { client } from './service.ts';
import { Field, LoadedView, Outcome } from './states.tsx';
import { day, money, useLanguage, useTexts } from './texts.ts';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

/** Another period of the current subscription, by hand or automatically. */
export function Renewal() {
  const texts = useTexts();
  const language = useLanguage();
  const { subscription } = useAccount();
  return (
    <LoadedView from={subscription} isEmpty={(value) => !value.subscription} empty={texts.noSubscription}>
      {({ subscription: current }) =>
        current && (
          <>
            <p>
              {current.tariff_name ?? texts.subscription} · {texts.until}{' '}
              <strong data-testid="end-date">{day(current.end_date, language)}</strong>
            </p>
            <div className="columns">
              {current.is_daily ? <DailyCard current={current} /> : <RenewalCard />}
              {!current.is_trial && <AutopayCard key={String(current.autopay_enabled)} current={current} />}
            </div>
          </>
        )
      }
    </LoadedView>
  );
}

function RenewalCard() {
  const texts = useTexts();
  const language = useLanguage();
  const { balance, reload } = useAccount();
  const options = useLoaded(() => client.api.subscription.renewalOptions.query(), balance.value?.balance_kopeks);
  const [days, setDays] = useState<number | null>(null);
  const action = useAction(
    'renewal',
    (input: { period_days: number; quote: string }, call) => client.api.subscription.renew.mutate(input, call),
    reload,
  );
  return (
    <section className="card" data-testid="renewal">
      <h2>{texts.renewal}</h2>
      <LoadedView from={options} isEmpty={(value) => value.length === 0} empty={texts.noRenewal}>
        {(value) => {
          const chosen = value.find(({ period_days }) => period_days === days) ?? value[0]!;
          return (
            <>
              <fieldset>
                <legend>{texts.period}</legend>
                {value.map((one) => (
                  <label className="choice" key={one.period_days}>
                    <input type="radio" name="renewal" checked={one === chosen} onChange={() => setDays(one.period_days)} />
                    <span>
                      {one.period_days} {texts.daysShort}
                    </span>
                    <span className="end">
                      {one.discount_percent > 0 && `−${one.discount_percent}% `}
                      {money(one.price_kopeks, language)}
                    </span>
                  </label>
                ))}
              </fieldset>
              <PaymentSummary
                priceKopeks={chosen.price_kopeks}
                originalPriceKopeks={chosen.original_price_kopeks}
                action={action}
                onPay={() => void action.run({ period_days: chosen.period_days, quote: chosen.quote })}
                payLabel={texts.extend}
                done={({ new_end_date }) => `${texts.renewed} ${texts.until} ${day(new_end_date, language)}`}
              />
            </>
          );
        }}
      </LoadedView>
    </section>
  );
}

/** A tariff that is paid by the day has no renewal; it can be paused. */
function DailyCard({ current }: { current: Subscription }) {
  const texts = useTexts();
  const language = useLanguage();
  const { reload } = useAccount();
  const action = useAction('pause', (_input: null, call) => client.api.subscription.pause.mutate(undefined, call), reload);
  return (
    <section className="card" data-testid="daily">
      <h2>{texts.dailyPayment}</h2>
      <p>
        {money(current.daily_price_kopeks ?? 0, language)} {texts.perDay}
        {current.next_daily_charge_at && ` · ${texts.nextCharge} ${day(current.next_daily_charge_at, language)}`}
      </p>
      <button type="button" className="main" disabled={action.isBusy} onClick={() => void action.run(null)}>
        {current.is_daily_paused ? texts.resume : texts.pause}
      </button>
      <Outcome action={action} done={({ message }) => message} />
    </section>
  );
}

const MAX_DAYS_BEFORE = 30;

function AutopayCard({ current }: { current: Subscription }) {
  const texts = useTexts();
  const { reload } = useAccount();
  const [isOn, setIsOn] = useState(current.autopay_enabled);
  const [daysBefore, setDaysBefore] = useState(current.autopay_days_before);
  const action = useAction(
    'autopay',
    (input: { enabled: boolean; days_before: number }) => client.api.subscription.setAutopay.mutate(input),
    reload,
  );
  function save(event: FormEvent) {
    event.preventDefault();
    void action.run({ enabled: isOn, days_before: daysBefore });
  }
  return (
    <form className="card" onSubmit={save} data-testid="autopay">
      <h2>{texts.autopay}</h2>
      <p className="soft">{texts.autopayHint}</p>
      <label className="choice">
        <input type="checkbox" checked={isOn} onChange={(event) => setIsOn(event.target.checked)} />
        <span>{texts.autopayOn}</span>
      </label>
      <Field label={texts.daysBefore} error={action.error} path="days_before">
        {(attributes) => (
          <input
            {...attributes}
            type="number"
            min={1}
            max={MAX_DAYS_BEFORE}
            required
            value={daysBefore}
            onChange={(event) => setDaysBefore(event.target.valueAsNumber || 1)}
          />
        )}
      </Field>
      <button type="submit" className="plain" disabled={action.isBusy}>
        {texts.save}
      </button>
      <Outcome action={action} done={() => texts.saved} fields={['days_before']} />
    </form>
  );
}
