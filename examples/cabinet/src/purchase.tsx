import { useEffect, useState } from 'react';
import { useAccount } from './account-state.tsx';
import { ClassicOrder } from './classic-order.tsx';
import { PromoCodeForm } from './promo-code-form.tsx';
import { client } from './service.ts';
import { LoadedView } from './states.tsx';
import { TariffOrder } from './tariff-order.tsx';
import { money, useLanguage, useTexts } from './texts.ts';
import { unknownOutcome } from './unknown-outcomes.ts';
import { useLoaded } from './use-loaded.ts';

/** The answer has two forms; `sales_mode` says which. */
export type PurchaseOptions = Awaited<ReturnType<typeof client.api.subscription.purchaseOptions.query>>;
export type TariffOptions = Extract<PurchaseOptions, { sales_mode: 'tariffs' }>;
export type ClassicOptions = Extract<PurchaseOptions, { sales_mode: 'classic' }>;
export type Tariff = TariffOptions['tariffs'][number];

/** A quote is valid for ten minutes; the prices are read again before that. */
const QUOTE_REFRESH_MS = 8 * 60_000;

/** What is on sale, and the order of one offer with its price before it is paid. */
export function Purchase() {
  const texts = useTexts();
  const { balance } = useAccount();
  // A purchase, a promo code and a top-up can change prices and what is current.
  const options = useLoaded(() => client.api.subscription.purchaseOptions.query(), balance.value?.balance_kopeks);
  const { reload } = options;

  useEffect(() => {
    const timer = setInterval(reload, QUOTE_REFRESH_MS);
    return () => clearInterval(timer);
  }, [reload]);

  return (
    <>
      <LoadedView
        from={options}
        isEmpty={(value) => (value.sales_mode === 'tariffs' ? value.tariffs : value.periods).length === 0}
        empty={texts.noTariffs}
      >
        {(value) =>
          value.sales_mode === 'tariffs' ? (
            <TariffList options={value} onBought={reload} />
          ) : (
            <ClassicOrder options={value} onBought={reload} />
          )
        }
      </LoadedView>
      <PromoCodeForm onActivated={reload} />
    </>
  );
}

function TariffList({ options, onBought }: { options: TariffOptions; onBought: () => void }) {
  const tariffs = options.tariffs.filter(({ is_available }) => is_available);
  // An order without an answer is open again after a reload.
  const isUnknown = ({ id }: Tariff) => unknownOutcome(`purchase-${id}`) !== null || unknownOutcome(`switch-${id}`) !== null;
  const [chosenId, setChosenId] = useState<number | null>(() => tariffs.find(isUnknown)?.id ?? null);
  const chosen = tariffs.find(({ id }) => id === chosenId);
  return (
    <>
      <div className="tariffs">
        {tariffs.map((tariff) => (
          <TariffCard
            key={tariff.id}
            tariff={tariff}
            isChosen={tariff.id === chosen?.id}
            onChoose={() => setChosenId(tariff.id)}
          />
        ))}
      </div>
      {chosen && <TariffOrder key={chosen.id} tariff={chosen} onBought={onBought} />}
    </>
  );
}

interface CardProps {
  tariff: Tariff;
  isChosen: boolean;
  onChoose: () => void;
}

function TariffCard({ tariff, isChosen, onChoose }: CardProps) {
  const texts = useTexts();
  const language = useLanguage();
  const cheapest = tariff.is_daily
    ? tariff.daily_price_kopeks
    : Math.min(...tariff.periods.map(({ price_kopeks }) => price_kopeks));
  return (
    <article className={isChosen ? 'card tariff current' : 'card tariff'} data-testid="tariff">
      <h2>
        {tariff.name} {tariff.is_current && <span className="state active">{texts.current}</span>}
      </h2>
      {tariff.description && <p className="soft">{tariff.description}</p>}
      <ul className="facts">
        <li>
          {texts.traffic}: {tariff.is_unlimited_traffic ? texts.unlimited : `${tariff.traffic_limit_gb} ${texts.gb}`}
        </li>
        <li>
          {texts.devices}: {tariff.device_limit}
        </li>
        {tariff.servers.length > 0 && <li>{tariff.servers.map(({ name }) => name).join(', ')}</li>}
      </ul>
      <p className="figure small">
        {tariff.is_daily ? '' : `${texts.from} `}
        {Number.isFinite(cheapest) ? money(cheapest, language) : '—'}
        {tariff.is_daily ? ` ${texts.perDay}` : ''}
      </p>
      <button
        type="button"
        className={isChosen ? 'plain' : 'main'}
        aria-pressed={isChosen}
        onClick={onChoose}
        data-testid="choose"
      >
        {texts.choose}
        <span className="hidden"> {tariff.name}</span>
      </button>
    </article>
  );
}
