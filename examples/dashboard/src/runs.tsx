import { useEffect, useState } from 'react';
import { Panel, Progress, Table } from './panel.tsx';
import { client, sentenceOf, useMay } from './service.ts';
import { count, dayAndTime, useLanguage, useTexts, wordOf } from './texts.ts';
import { useInterval, useLoaded } from './use-loaded.ts';

const LOOK_AGAIN_MS = 1_000;
const SHOWN = 10;

/** Long runs with their progress. */
export function Runs() {
  const may = useMay();
  return (
    <div className="grid">
      {may('backups:read') && <Backups />}
      {may('vpnpanel:read') && <Synchronisation />}
      {may('broadcasts:read') && <Broadcasts />}
    </div>
  );
}

/** A button that starts a run; the outcome is a sentence. */
function StartButton({ text, onStart }: { text: string; onStart: () => Promise<string | null> }) {
  const texts = useTexts();
  const [isBusy, setIsBusy] = useState(false);
  const [outcome, setOutcome] = useState<string | null>(null);
  function start() {
    setIsBusy(true);
    setOutcome(null);
    onStart()
      .then(setOutcome, (error: unknown) => setOutcome(sentenceOf(error, texts.denied)))
      .finally(() => setIsBusy(false));
  }
  return (
    <>
      <button type="button" className="main" disabled={isBusy} onClick={start}>
        {text}
      </button>
      {outcome !== null && <p role="status">{outcome}</p>}
    </>
  );
}

function Backups() {
  const texts = useTexts();
  const language = useLanguage();
  const may = useMay();
  const { backups } = client.admin;
  const tasks = useLoaded(() => backups.tasks.query({}));
  const isRunning = tasks.value?.items.some(({ status }) => status === 'queued' || status === 'running') === true;
  useInterval(tasks.reload, LOOK_AGAIN_MS, isRunning);

  // Shown from its answer on, until the list has it.
  const [queued, setQueued] = useState<string | null>(null);

  async function start() {
    setQueued((await backups.create.mutate()).task_id);
    tasks.reload();
    return null;
  }
  return (
    <Panel title={texts.backups} loaded={tasks} testId="backups">
      {({ items }) => (
        <>
          {may('backups:create') && <StartButton text={texts.startBackup} onStart={start} />}
          {items.length === 0 && queued === null && <p className="soft">{texts.nothing}</p>}
          <ul className="runs">
            {queued !== null && !items.some(({ task_id }) => task_id === queued) && (
              <li data-testid="backup" data-status="queued">
                <Progress name={texts.backups} done={0} total={0} />
              </li>
            )}
            {items
              .slice(-SHOWN)
              .reverse()
              .map(({ task_id, status, created_at, message }) => (
                <li key={task_id} data-testid="backup" data-status={status}>
                  <span>{dayAndTime(created_at, language)}</span> <strong>{wordOf(texts, status)}</strong>
                  {(status === 'queued' || status === 'running') && <Progress name={texts.backups} done={0} total={0} />}
                  {message && <p className="soft break">{message}</p>}
                </li>
              ))}
          </ul>
        </>
      )}
    </Panel>
  );
}

function Synchronisation() {
  const texts = useTexts();
  const language = useLanguage();
  const may = useMay();
  const { vpnpanel } = client.admin;
  const state = useLoaded(() => vpnpanel.recommendations.query());
  const running = state.value?.data?.running ?? [];
  const [isStarting, setIsStarting] = useState(false);
  useInterval(state.reload, LOOK_AGAIN_MS, isStarting || running.length > 0);

  async function start() {
    setIsStarting(true);
    try {
      const { message } = await vpnpanel.toPanel.mutate();
      return message ?? null;
    } finally {
      setIsStarting(false);
      state.reload();
    }
  }
  return (
    <Panel title={texts.synchronisation} loaded={state} testId="synchronisation">
      {({ data }) => (
        <>
          {running.length === 0 && <p className="soft">{texts.noSync}</p>}
          <ul className="runs">
            {running.map(({ run_id, kind, started_at, progress }) => (
              <li key={run_id}>
                <span>{dayAndTime(started_at, language)}</span> <strong>{kind}</strong>
                <Progress name={kind} done={progress?.done ?? 0} total={progress?.total ?? 0} />
              </li>
            ))}
          </ul>
          {data?.reasons.map((reason) => (
            <p key={reason} className="soft">
              {reason}
            </p>
          ))}
          {may('vpnpanel:sync') && <StartButton text={texts.startSync} onStart={start} />}
        </>
      )}
    </Panel>
  );
}

function Broadcasts() {
  const texts = useTexts();
  const language = useLanguage();
  const list = useLoaded(() => client.admin.broadcasts.list.query({ limit: SHOWN }));
  const { reload } = list;
  const isRunning = list.value?.items.some(({ completed_at }) => !completed_at) === true;
  useInterval(reload, LOOK_AGAIN_MS, isRunning);
  // The service sends this to staff; others see the progress by the interval.
  useEffect(() => client.live.onEvent('broadcast.progress', reload), [reload]);

  return (
    <Panel
      title={texts.broadcasts}
      loaded={list}
      empty={(value) => (value.items.length ? null : texts.nothing)}
      testId="broadcasts"
      isWide
    >
      {({ items }) => (
        <Table
          caption={texts.broadcasts}
          columns={[texts.message, texts.status, `#${texts.sent}`, `#${texts.failed}`, `#${texts.recipients}`]}
          rows={items.map((one) => ({
            key: one.id,
            cells: [
              plain(one.message_text ?? one.email_subject ?? ''),
              one.completed_at ? (
                wordOf(texts, one.status)
              ) : (
                <Progress key="bar" name={texts.broadcasts} done={one.progress_percent} total={100} />
              ),
              count(one.sent_count, language),
              count(one.failed_count + one.blocked_count, language),
              count(one.total_count, language),
            ],
          }))}
        />
      )}
    </Panel>
  );
}

/** The text has HTML of the messenger. */
function plain(content: string): string {
  const text = new DOMParser().parseFromString(content, 'text/html').body.textContent ?? '';
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
