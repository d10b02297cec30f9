import { useEffect, useRef, useState } from 'react';
import { useAccount } from './account-state.tsx';
import { PaymentSummary } from './payment-summary.tsx';
import type { Tariff } from './purchase.tsx';
import { client } from './service.ts';
import { Field, LoadedView } from './states.tsx';
import { day, money, useLanguage, useTexts } from './texts.ts';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

interface Order {
  tariff_id: number;
  period_days: number;
  traffic_gb?: number;
  quote?: string;
}

const CUSTOM = 'custom';

/** The order of one tariff: period, traffic where it is sold by the GB, and the price before it is paid. */
export function TariffOrder({ tariff, onBought }: { tariff: Tariff; onBought: () => void }) {
  const texts = useTexts();
  const language = useLanguage();
  const { subscription } = useAccount();
  const [period, setPeriod] = useState(String(tariff.periods[0]?.days ?? CUSTOM));
  const [days, setDays] = useState(tariff.min_days);
  const [trafficGb, setTrafficGb] = useState(tariff.min_traffic_gb);
  const section = useRef<HTMLElement>(null);
  useEffect(() => section.current?.focus(), []);

  const status = subscription.value?.subscription;
  const isSwitch = Boolean(status?.is_active && !status.is_trial && status.tariff_id && status.tariff_id !== tariff.id);
  const listed = tariff.periods.find((one) => String(one.days) === period);
  const order: Order = {
    tariff_id: tariff.id,
    period_days: tariff.is_daily ? 1 : (listed?.days ?? days),
    ...(tariff.custom_traffic_enabled ? { traffic_gb: trafficGb } : {}),
  };

  return (
    <section className="card order" ref={section} tabIndex={-1} aria-label={`${texts.order}: ${tariff.name}`} data-testid="order">
      <h2>
        {texts.order}: {tariff.name}
      </h2>
      {!tariff.is_daily && (
        <fieldset>
          <legend>{texts.period}</legend>
          {tariff.periods.map((one) => (
            <label className="choice" key={one.days}>
              <input
                type="radio"
                name="period"
                value={one.days}
                checked={String(one.days) === period}
                onChange={() => setPeriod(String(one.days))}
              />
              <span>{one.label}</span>
              <span className="end">{money(one.price_kopeks, language)}</span>
            </label>
          ))}
          {tariff.custom_days_enabled && (
            <label className="choice">
              <input type="radio" name="period" checked={!listed} onChange={() => setPeriod(CUSTOM)} />
              <span>{texts.customPeriod}</span>
              <span className="end">
                {money(tariff.price_per_day_kopeks, language)} {texts.perDay}
              </span>
            </label>
          )}
        </fieldset>
      )}
      {!tariff.is_daily && !listed && (
        <Field label={texts.days} hint={`${tariff.min_days}–${tariff.max_days}`}>
          {(attributes) => (
            <input
              {...attributes}
              type="number"
              min={tariff.min_days}
              max={tariff.max_days}
              value={days}
              onChange={(event) => setDays(event.target.valueAsNumber || tariff.min_days)}
            />
          )}
        </Field>
      )}
      {tariff.custom_traffic_enabled && (
        <Field label={texts.trafficGb} hint={`${tariff.min_traffic_gb}–${tariff.max_traffic_gb} ${texts.gb}`}>
          {(attributes) => (
            <input
              {...attributes}
              type="number"
              min={tariff.min_traffic_gb}
              max={tariff.max_traffic_gb}
              value={trafficGb}
              onChange={(event) => setTrafficGb(event.target.valueAsNumber || tariff.min_traffic_gb)}
            />
          )}
        </Field>
      )}
      {isSwitch ? (
        <SwitchSummary key={JSON.stringify(order)} order={order} onBought={onBought} />
      ) : (
        <PurchaseSummary tariff={tariff} order={order} onBought={onBought} />
      )}
    </section>
  );
}

type Period = Tariff['periods'][number];

/** Price with its quote, where the service has quoted exactly this order; else what the tariff says, which the sale calculates again. */
function priceOf(tariff: Tariff, order: Order): { kopeks: number; originalKopeks?: number; quote?: string; period?: Period } {
  if (tariff.is_daily)
    return { kopeks: tariff.daily_price_kopeks, originalKopeks: tariff.original_daily_price_kopeks, quote: tariff.daily_quote };
  const traffic = (order.traffic_gb ?? 0) * tariff.traffic_price_per_gb_kopeks;
  const period = tariff.periods.find((one) => one.days === order.period_days);
  if (!period) return { kopeks: order.period_days * tariff.price_per_day_kopeks + traffic };
  if (traffic > 0) return { kopeks: period.price_kopeks + traffic, period };
  return { kopeks: period.price_kopeks, originalKopeks: period.original_price_kopeks, quote: period.quote, period };
}

function PurchaseSummary({ tariff, order, onBought }: { tariff: Tariff; order: Order; onBought: () => void }) {
  const texts = useTexts();
  const language = useLanguage();
  const { reload } = useAccount();
  const { kopeks, originalKopeks, quote, period } = priceOf(tariff, order);
  const action = useAction(
    `purchase-${tariff.id}`,
    (input: Order, call) => client.api.subscription.purchaseTariff.mutate(input, call),
    () => {
      reload();
      onBought();
    },
  );
  return (
    <PaymentSummary
      priceKopeks={kopeks}
      originalPriceKopeks={originalKopeks}
      action={action}
      onPay={() => void action.run({ ...order, ...(quote ? { quote } : {}) })}
      payLabel={tariff.is_current ? texts.extend : texts.buy}
      done={({ subscription }) => `${texts.bought} ${texts.activeUntil} ${day(subscription.end_date, language)}`}
    >
      {period?.extra_devices_cost_kopeks ? (
        <>
          <dt>{texts.extraDevices}</dt>
          <dd>
            {period.extra_devices_count} · {money(period.extra_devices_cost_kopeks, language)}
          </dd>
        </>
      ) : null}
      {period?.discount_percent ? (
        <>
          <dt>{texts.discount}</dt>
          <dd>{period.discount_percent}%</dd>
        </>
      ) : null}
    </PaymentSummary>
  );
}

/** The change to another tariff: what is paid already counts, so the service calculates the difference. */
function SwitchSummary({ order, onBought }: { order: Order; onBought: () => void }) {
  const texts = useTexts();
  const { reload } = useAccount();
  const preview = useLoaded(() => client.api.subscription.switchPreview.mutate(order));
  const action = useAction(
    `switch-${order.tariff_id}`,
    (input: Order, call) => client.api.subscription.switchTariff.mutate(input, call),
    () => {
      reload();
      onBought();
    },
  );
  return (
    <LoadedView from={preview}>
      {(value) => (
        <PaymentSummary
          priceKopeks={value.upgrade_cost_kopeks}
          originalPriceKopeks={value.base_upgrade_cost_kopeks}
          action={action}
          onPay={() => void action.run({ ...order, quote: value.quote })}
          payLabel={texts.switchTariff}
          done={() => texts.bought}
          savesOrder={false}
        >
          <dt>{texts.switchFrom}</dt>
          <dd>{value.current_tariff_name}</dd>
          <dt>{texts.daysLeft}</dt>
          <dd>{value.remaining_days}</dd>
        </PaymentSummary>
      )}
    </LoadedView>
  );
}
