import { sentenceOf } from './service.ts';
import { money, useLanguage, useTexts } from './texts.ts';
import { TopUpForm } from './top-up-form.tsx';

export function BalanceCard({ balanceKopeks, error }: { balanceKopeks: number | null; error: unknown }) {
  const texts = useTexts();
  const language = useLanguage();
  return (
    <section className="card">
      <h2>{texts.balance}</h2>
      <p className="figure" data-testid="balance">
        {balanceKopeks === null ? '…' : money(balanceKopeks, language)}
      </p>
      {error !== null && <p className="problem">{sentenceOf(error)}</p>}
      <TopUpForm />
    </section>
  );
}
