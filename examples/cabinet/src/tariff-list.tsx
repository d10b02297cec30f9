import { CabinetError } from '@subscription-service/client';
import { useRef, useState } from 'react';
import { client, sentenceOf } from './service.ts';
import { type PurchaseOptions, readOffers, type TariffOffer, type TariffPeriod } from './tariff-offers.ts';
import { money, useLanguage, useTexts } from './texts.ts';

interface Props {
  answer: PurchaseOptions | null;
  error: unknown;
  onBought: () => void;
}

export function TariffList({ answer, error, onBought }: Props) {
  const texts = useTexts();
  const [outcome, setOutcome] = useState<{ isGood: boolean; text: string } | null>(null);
  const [busy, setBusy] = useState<string | null>(null);
  /** Keys of purchases whose outcome is unknown, so that a repeated click does not pay twice. */
  const openKeys = useRef(new Map<string, string>());
  const offers = answer === null ? [] : readOffers(answer);

  async function buy(offer: TariffOffer, periodDays: number) {
    const what = `${offer.id}:${periodDays}`;
    setBusy(what);
    setOutcome(null);
    const idempotencyKey = openKeys.current.get(what);
    openKeys.current.delete(what);
    try {
      await client.api.subscription.purchaseTariff.mutate(
        { tariff_id: offer.id, period_days: periodDays },
        idempotencyKey === undefined ? {} : { idempotencyKey },
      );
      setOutcome({ isGood: true, text: texts.bought });
      onBought();
    } catch (problem) {
      if (problem instanceof CabinetError && problem.isTransient && problem.idempotencyKey) {
        openKeys.current.set(what, problem.idempotencyKey);
      }
      setOutcome({ isGood: false, text: sentenceOf(problem) });
    } finally {
      setBusy(null);
    }
  }

  return (
    <section>
      <h2 className="above">{texts.tariffs}</h2>
      {error !== null && <p className="problem">{sentenceOf(error)}</p>}
      {outcome && (
        <p className={outcome.isGood ? 'success' : 'problem'} role="status" data-testid="outcome">
          {outcome.text}
        </p>
      )}
      {answer !== null && offers.length === 0 && <p className="soft">{texts.noTariffs}</p>}
      <div className="tariffs">
        {offers.map((offer) => (
          <Tariff key={offer.id} offer={offer} busy={busy} onBuy={buy} />
        ))}
      </div>
    </section>
  );
}

interface TariffProps {
  offer: TariffOffer;
  busy: string | null;
  onBuy: (offer: TariffOffer, periodDays: number) => void;
}

function Tariff({ offer, busy, onBuy }: TariffProps) {
  const texts = useTexts();
  const daily: TariffPeriod[] =
    offer.dailyPriceKopeks === null
      ? []
      : [{ days: 1, label: texts.perDay, priceKopeks: offer.dailyPriceKopeks, originalPriceKopeks: null }];
  return (
    <article className={offer.isCurrent ? 'card tariff current' : 'card tariff'} data-testid="tariff">
      <h3>
        {offer.name} {offer.isCurrent && <span className="state active">{texts.current}</span>}
      </h3>
      {offer.description && <p className="soft">{offer.description}</p>}
      <p className="soft">
        {offer.trafficLabel} · {texts.devices}: {offer.deviceLimit}
      </p>
      {offer.servers.length > 0 && <p className="soft">{offer.servers.join(', ')}</p>}
      <ul>
        {[...daily, ...offer.periods].map((period) => (
          <li key={period.days}>
            <span>{period.label}</span>
            <Price period={period} />
            <button
              type="button"
              className="main"
              data-testid="buy"
              disabled={busy !== null}
              onClick={() => onBuy(offer, period.days)}
            >
              {offer.isCurrent ? texts.extend : texts.buy}
            </button>
          </li>
        ))}
      </ul>
    </article>
  );
}

function Price({ period }: { period: TariffPeriod }) {
  const language = useLanguage();
  return (
    <strong>
      {period.originalPriceKopeks !== null && <s>{money(period.originalPriceKopeks, language)}</s>}{' '}
      {money(period.priceKopeks, language)}
    </strong>
  );
}
