import { type FormEvent, useState } from 'react';
import { useReloadOn } from './live-feed.tsx';
import { Panel, Table } from './panel.tsx';
import { client, sentenceOf, useMay } from './service.ts';
import { dayAndTime, money, useLanguage, useTexts, wordOf } from './texts.ts';
import { useLoaded } from './use-loaded.ts';

type Approval = Awaited<ReturnType<typeof client.admin.approvals.list.query>>['items'][number];

/** Changes of money that wait for a second administrator, and what became of the others. */
export function Approvals() {
  const texts = useTexts();
  const language = useLanguage();
  const waiting = useLoaded(() => client.admin.approvals.list.query({ status: 'waiting' }));
  const all = useLoaded(() => client.admin.approvals.list.query({ limit: 20 }));
  const reload = () => {
    waiting.reload();
    all.reload();
  };
  useReloadOn(['approval.requested', 'approval.decided'], reload);

  return (
    <div className="grid">
      <Panel
        title={texts.waitingApprovals}
        loaded={waiting}
        empty={({ items }) => (items.length ? null : texts.noApprovals)}
        testId="waiting"
        isWide
      >
        {({ items }) => items.map((approval) => <Waiting key={approval.id} approval={approval} onDecided={reload} />)}
      </Panel>
      <Panel
        title={texts.decided}
        loaded={all}
        empty={({ items }) => (items.some(({ status }) => status !== 'waiting') ? null : texts.nothing)}
        testId="decided"
        isWide
      >
        {({ items }) => (
          <Table
            caption={texts.decided}
            columns={[texts.user, texts.kind, texts.status, `#${texts.amount}`, texts.when]}
            rows={items
              .filter(({ status }) => status !== 'waiting')
              .map((approval) => ({
                key: approval.id,
                cells: [
                  nameOf(approval),
                  wordOf(texts, approval.kind),
                  wordOf(texts, approval.status),
                  money(approval.amount_kopeks, language),
                  dayAndTime(approval.decided_at ?? approval.created_at, language),
                ],
              }))}
          />
        )}
      </Panel>
    </div>
  );
}

function nameOf({ first_name, username, email, user_id }: Approval): string {
  return first_name ?? username ?? email ?? String(user_id ?? '—');
}

function Waiting({ approval, onDecided }: { approval: Approval; onDecided: () => void }) {
  const texts = useTexts();
  const language = useLanguage();
  const may = useMay();
  const [error, setError] = useState<string | null>(null);
  const { id } = approval;
  const decide = (work: () => Promise<unknown>) => {
    setError(null);
    work().then(onDecided, (problem: unknown) => setError(sentenceOf(problem, texts.denied)));
  };
  function refuse(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const reason = String(new FormData(event.currentTarget).get('reason'));
    decide(() => client.admin.approvals.refuse.mutate({ approval_id: id, reason }));
  }
  return (
    <article className="approval" data-testid="approval">
      <h3>
        {wordOf(texts, approval.kind)}: {money(approval.amount_kopeks, language)} · {nameOf(approval)}
      </h3>
      <p className="soft">
        {texts.requestedBy}: {approval.requested_by}, {dayAndTime(approval.created_at, language)}
        {approval.description && ` · ${approval.description}`}
      </p>
      {may('approvals:decide') && (
        <div className="row">
          <button
            type="button"
            className="main"
            onClick={() => decide(() => client.admin.approvals.approve.mutate({ approval_id: id }))}
          >
            {texts.approve}
          </button>
          <form className="row" onSubmit={refuse}>
            <label>
              {texts.refusalReason}
              <input name="reason" required maxLength={500} />
            </label>
            <button type="submit">{texts.refuse}</button>
          </form>
        </div>
      )}
      {error !== null && (
        <p className="problem" role="alert">
          {error}
        </p>
      )}
    </article>
  );
}
