import { useAccount } from './account-state.tsx';
import { client } from './service.ts';
import { Outcome } from './states.tsx';
import { money, useLanguage, useTexts } from './texts.ts';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

/** Nothing where the operator offers no trial, or this user has had it. */
export function TrialCard() {
  const texts = useTexts();
  const language = useLanguage();
  const { reload } = useAccount();
  const trial = useLoaded(() => client.api.subscription.trial.query());
  const action = useAction(
    'trial',
    (_input: null, call) => client.api.subscription.activateTrial.mutate(undefined, call),
    reload,
  );
  const terms = trial.value;
  if (!terms?.is_available) return null;
  return (
    <section className="card" data-testid="trial">
      <h2>{texts.trial}</h2>
      <p className="soft">
        {terms.duration_days} {texts.daysShort} ·{' '}
        {terms.traffic_limit_gb === 0 ? texts.unlimited : `${terms.traffic_limit_gb} ${texts.gb}`} · {texts.devices}:{' '}
        {terms.device_limit}
      </p>
      <button type="button" className="main" disabled={action.isBusy} onClick={() => void action.run(null)}>
        {texts.startTrial}
        {terms.requires_payment && ` · ${money(terms.price_kopeks, language)}`}
      </button>
      <Outcome action={action} />
    </section>
  );
}
