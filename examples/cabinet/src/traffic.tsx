import { useState } from 'react';
import { useAccount } from './account-state.tsx';
import { PaymentSummary } from './payment-summary.tsx';
import { client } from './service.ts';
import { LoadedView, Outcome } from './states.tsx';
import { day, money, useLanguage, useTexts } from './texts.ts';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

/** What was used, what was added, and packages to add. */
export function Traffic() {
  const texts = useTexts();
  const { subscription } = useAccount();
  return (
    <LoadedView from={subscription} isEmpty={(value) => !value.subscription} empty={texts.noSubscription}>
      {() => (
        <div className="columns">
          <UsedTraffic />
          <TrafficPackages />
        </div>
      )}
    </LoadedView>
  );
}

function UsedTraffic() {
  const texts = useTexts();
  const language = useLanguage();
  const { subscription, reload } = useAccount();
  const refresh = useAction('refresh-traffic', (_input: null) => client.api.subscription.refreshTraffic.mutate(), reload);
  const current = subscription.value?.subscription;
  if (!current) return null;
  const { traffic_used_gb: used, traffic_limit_gb: limit, traffic_purchases: purchases } = current;
  return (
    <section className="card" data-testid="traffic">
      <h2>{texts.usedTraffic}</h2>
      <p className="figure small">
        {used.toFixed(1)} / {limit === 0 ? texts.unlimited : `${limit} ${texts.gb}`}
      </p>
      {limit > 0 && <progress max={100} value={current.traffic_used_percent} aria-label={texts.usedTraffic} />}
      {purchases.length > 0 && (
        <>
          <h3>{texts.addedTraffic}</h3>
          <ul className="rows">
            {purchases.map(({ id, traffic_gb, expires_at }) => (
              <li key={id}>
                <span>
                  +{traffic_gb} {texts.gb}
                </span>
                <span className="soft">
                  {texts.until} {day(expires_at, language)}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      <p>
        <button type="button" className="plain" disabled={refresh.isBusy} onClick={() => void refresh.run(null)}>
          {texts.refresh}
        </button>
      </p>
      <Outcome
        action={refresh}
        done={({ rate_limited, traffic_used_gb }) =>
          rate_limited ? texts.refreshLater : `${texts.usedTraffic}: ${traffic_used_gb.toFixed(1)} ${texts.gb}`
        }
      />
    </section>
  );
}

function TrafficPackages() {
  const texts = useTexts();
  const language = useLanguage();
  const { balance, reload } = useAccount();
  const packages = useLoaded(() => client.api.subscription.trafficPackages.query(), balance.value?.balance_kopeks);
  const [gb, setGb] = useState<number | null>(null);
  const action = useAction(
    'buy-traffic',
    (input: { gb: number; quote: string | null }, call) => client.api.subscription.buyTraffic.mutate(input, call),
    reload,
  );
  return (
    <section className="card" data-testid="packages">
      <h2>{texts.moreTraffic}</h2>
      <LoadedView from={packages} isEmpty={(value) => value.length === 0} empty={texts.noPackages}>
        {(value) => {
          const chosen = value.find((one) => one.gb === gb) ?? value[0]!;
          return (
            <>
              <fieldset>
                <legend>{texts.package}</legend>
                {value.map((one) => (
                  <label className="choice" key={one.gb}>
                    <input type="radio" name="package" checked={one === chosen} onChange={() => setGb(one.gb)} />
                    <span>{one.is_unlimited ? texts.unlimited : `${one.gb} ${texts.gb}`}</span>
                    <span className="end">{money(one.price_kopeks, language)}</span>
                  </label>
                ))}
              </fieldset>
              <PaymentSummary
                priceKopeks={chosen.price_kopeks}
                action={action}
                onPay={() => void action.run({ gb: chosen.gb, quote: chosen.quote })}
                payLabel={texts.buy}
                done={({ message }) => message}
              />
            </>
          );
        }}
      </LoadedView>
    </section>
  );
}
