import { type FormEvent, useEffect, useState } from 'react';
import { client, sentenceOf } from './service.ts';
import { money, useLanguage, useTexts } from './texts.ts';
import { useLoaded } from './use-loaded.ts';

export function BalanceCard({ balanceKopeks, error }: { balanceKopeks: number | null; error: unknown }) {
  const texts = useTexts();
  const language = useLanguage();
  const methods = useLoaded(() => client.api.balance.paymentMethods.query());
  const [rubles, setRubles] = useState('500');
  const [method, setMethod] = useState('');
  const [payUrl, setPayUrl] = useState<string | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const chosen = methods.value?.find(({ id }) => id === method) ?? methods.value?.[0];

  useEffect(() => client.live.onEvent('balance.topup', () => setPayUrl(null)), []);

  async function topUp(event: FormEvent) {
    event.preventDefault();
    if (!chosen) return;
    setIsBusy(true);
    setProblem(null);
    try {
      const topup = await client.api.balance.topup.mutate({
        amount_kopeks: Math.round(Number(rubles) * 100),
        payment_method: chosen.id,
      });
      setPayUrl(topup.payment_url);
      window.open(topup.payment_url, '_blank', 'noopener');
    } catch (failure) {
      setProblem(failure);
    } finally {
      setIsBusy(false);
    }
  }

  return (
    <section className="card">
      <h2>{texts.balance}</h2>
      <p className="figure" data-testid="balance">
        {balanceKopeks === null ? '…' : money(balanceKopeks, language)}
      </p>
      {error !== null && <p className="problem">{sentenceOf(error)}</p>}
      {methods.value?.length === 0 && <p className="soft">{texts.noMethods}</p>}
      {chosen && (
        <form className="row" onSubmit={topUp}>
          <label>
            {texts.amount}
            <input
              name="amount"
              type="number"
              min={chosen.min_amount_kopeks / 100}
              max={chosen.max_amount_kopeks / 100}
              step="0.01"
              required
              value={rubles}
              onChange={(event) => setRubles(event.target.value)}
            />
          </label>
          <label>
            {texts.method}
            <select name="method" value={chosen.id} onChange={(event) => setMethod(event.target.value)}>
              {methods.value?.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <button type="submit" className="main" disabled={isBusy} data-testid="topup">
            {texts.topUp}
          </button>
        </form>
      )}
      {problem !== null && (
        <p className="problem" role="alert">
          {sentenceOf(problem)}
        </p>
      )}
      {payUrl && (
        <p>
          <a href={payUrl} target="_blank" rel="noreferrer" data-testid="pay-link">
            {texts.payPage}
          </a>
        </p>
      )}
    </section>
  );
}
