import { useState } from 'react';
import { useAccount } from './account-state.tsx';
import { client } from './service.ts';
import { LoadedView, Outcome } from './states.tsx';
import { dateAndTime, useLanguage, useTexts } from './texts.ts';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

type WheelConfig = Awaited<ReturnType<typeof client.api.fortuneWheel.config.query>>;

/** The wheel of fortune. The service decides the prize and the angle; the page only turns the drawing to it. */
export function Wheel() {
  const config = useLoaded(() => client.api.fortuneWheel.config.query());
  const history = useLoaded(() => client.api.fortuneWheel.history.query({ per_page: 10 }));
  const { reload } = useAccount();
  const texts = useTexts();
  const reloadAll = () => {
    config.reload();
    history.reload();
    reload();
  };
  return (
    <LoadedView from={config} isEmpty={({ is_enabled, prizes }) => !is_enabled || prizes.length === 0} empty={texts.noWheel}>
      {(value) => (
        <div className="columns">
          <Spin config={value} onSpun={reloadAll} />
          <section className="card" data-testid="spins">
            <h2>{texts.spins}</h2>
            <LoadedView from={history} isEmpty={({ items }) => items.length === 0} empty={texts.nothingYet}>
              {({ items }) => <Spins items={items} />}
            </LoadedView>
          </section>
        </div>
      )}
    </LoadedView>
  );
}

function Spin({ config, onSpun }: { config: WheelConfig; onSpun: () => void }) {
  const texts = useTexts();
  const [angle, setAngle] = useState(0);
  const spin = useAction(
    'spin',
    (input: { payment_type: 'subscription_days' | 'messenger_stars' }, call) => client.api.fortuneWheel.spin.mutate(input, call),
    ({ success, rotation_degrees }) => {
      // On from where it stands, by whole turns and the angle of the prize.
      if (success) setAngle((before) => before - (before % 360) + 360 + rotation_degrees);
      onSpun();
    },
  );
  const invoice = useAction(
    'spin-invoice',
    (_input: null) => client.api.fortuneWheel.starsInvoice.mutate(),
    ({ invoice_url }) => window.open(invoice_url, '_blank', 'noopener'),
  );
  const share = 100 / config.prizes.length;
  const slices = config.prizes.map(({ color }, index) => `${color} ${index * share}% ${(index + 1) * share}%`);
  return (
    <section className="card wheel" data-testid="wheel">
      <h2>{config.name}</h2>
      <div className="disc-frame" aria-hidden="true">
        <div
          className="disc"
          style={{ backgroundImage: `conic-gradient(${slices.join(', ')})`, transform: `rotate(${angle}deg)` }}
        >
          {config.prizes.map(({ id, emoji }, index) => (
            <span key={id} style={{ transform: `rotate(${((index + 0.5) * 360) / config.prizes.length}deg)` }}>
              {emoji}
            </span>
          ))}
        </div>
      </div>
      <ul className="facts" aria-label={texts.prizes}>
        {config.prizes.map(({ id, emoji, display_name }) => (
          <li key={id}>
            {emoji} {display_name}
          </li>
        ))}
      </ul>
      <p className="soft">
        {texts.spinsToday}: {config.user_spins_today}
        {config.daily_limit > 0 && ` / ${config.daily_limit}`}
      </p>
      <div className="buttons">
        {config.spin_cost_days_enabled && (
          <button
            type="button"
            className="main"
            disabled={spin.isBusy || spin.repeat !== null || !config.can_pay_days}
            onClick={() => void spin.run({ payment_type: 'subscription_days' })}
            data-testid="spin"
          >
            {texts.spin} · {config.spin_cost_days} {texts.daysShort}
          </button>
        )}
        {config.spin_cost_stars_enabled && config.can_pay_stars && (
          <button type="button" className="plain" disabled={invoice.isBusy} onClick={() => void invoice.run(null)}>
            {texts.spin} · {config.spin_cost_stars} ★
          </button>
        )}
      </div>
      {!config.can_spin && !spin.answer && <p className="soft">{texts.cannotSpin}</p>}
      {/* A spin that was refused is an answer with `success: false`. */}
      <Outcome
        action={spin}
        done={({ success, emoji, prize_display_name, promocode, message }) => (
          <span data-testid="prize" className={success ? '' : 'problem'}>
            {success ? `${texts.prize}: ${emoji} ${prize_display_name}` : message}
            {promocode && ` — ${promocode}`}
          </span>
        )}
      />
      <Outcome action={invoice} />
    </section>
  );
}

type SpinRow = Awaited<ReturnType<typeof client.api.fortuneWheel.history.query>>['items'][number];

function Spins({ items }: { items: SpinRow[] }) {
  const language = useLanguage();
  return (
    <ul className="rows">
      {items.map(({ id, emoji, prize_display_name, created_at }) => (
        <li key={id}>
          <span>
            {emoji} {prize_display_name}
          </span>
          <span className="soft">{dateAndTime(created_at, language)}</span>
        </li>
      ))}
    </ul>
  );
}
