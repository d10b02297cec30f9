import { type FormEvent, useState } from 'react';
import { useAccount } from './account-state.tsx';
import { client } from './service.ts';
import { Field, LoadedView, Outcome } from './states.tsx';
import { useTexts } from './texts.ts';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

type Contest = Awaited<ReturnType<typeof client.api.contests.list.query>>[number];
type Game = Awaited<ReturnType<typeof client.api.contests.get.query>>;

/** Daily games. Only users with a subscription may play, and the service refuses even the list to others. */
export function Contests() {
  const texts = useTexts();
  const { subscription } = useAccount();
  return (
    <LoadedView from={subscription} isEmpty={(value) => !value.subscription?.is_active} empty={texts.contestsNeedSubscription}>
      {() => <ContestList />}
    </LoadedView>
  );
}

function ContestList() {
  const texts = useTexts();
  const list = useLoaded(() => client.api.contests.list.query());
  const [openId, setOpenId] = useState<number | null>(null);
  return (
    <>
      <section className="card" data-testid="contests">
        <h2>{texts.views.contests}</h2>
        <LoadedView from={list} isEmpty={(value) => value.length === 0} empty={texts.noContests}>
          {(value) => (
            <ul className="rows">
              {value.map((contest) => (
                <li key={contest.id}>
                  <span>
                    {contest.name}
                    <span className="soft block">{contest.description}</span>
                    <span className="soft block">
                      {texts.prize}: {prizeOf(contest, texts)}
                    </span>
                  </span>
                  {contest.already_played ? (
                    <span className="state">{texts.played}</span>
                  ) : (
                    <button type="button" className="plain" onClick={() => setOpenId(contest.id)}>
                      {texts.play}
                      <span className="hidden"> {contest.name}</span>
                    </button>
                  )}
                </li>
              ))}
            </ul>
          )}
        </LoadedView>
      </section>
      {openId !== null && <OpenGame key={openId} roundId={openId} onPlayed={list.reload} />}
    </>
  );
}

function prizeOf({ prize_type, prize_value }: Contest, texts: { daysShort: string }): string {
  if (prize_type === 'days') return `${prize_value} ${texts.daysShort}`;
  // The value of a balance prize is a number of kopeks.
  return prize_type === 'balance' ? `${Number(prize_value) / 100} ₽` : prize_value;
}

function OpenGame({ roundId, onPlayed }: { roundId: number; onPlayed: () => void }) {
  const { reload } = useAccount();
  const game = useLoaded(() => client.api.contests.get.query({ round_id: roundId }));
  const play = useAction(
    `play-${roundId}`,
    (input: { round_id: number; played_round_id: number; answer: string }, call) =>
      client.api.contests.answer.mutate(input, call),
    () => {
      onPlayed();
      reload();
    },
  );
  const answer = (text: string) => void play.run({ round_id: roundId, played_round_id: roundId, answer: text });
  return (
    <section className="card" data-testid="game" aria-live="polite">
      {play.answer === null && (
        <LoadedView from={game}>{(value) => <GameForm game={value} isBusy={play.isBusy} onAnswer={answer} />}</LoadedView>
      )}
      <Outcome action={play} done={({ message }) => message} />
    </section>
  );
}

interface GameFormProps {
  game: Game;
  isBusy: boolean;
  onAnswer: (answer: string) => void;
}

/** `game_data` differs by game: places of a grid, flags, one button, or a question with a text. */
function GameForm({ game, isBusy, onAnswer }: GameFormProps) {
  const texts = useTexts();
  const [text, setText] = useState('');
  const data = game.game_data;
  const choices = choicesOf(data);
  function submit(event: FormEvent) {
    event.preventDefault();
    onAnswer(text);
  }
  return (
    <>
      <h2>{game.instructions}</h2>
      {choices ? (
        <div className="buttons">
          {choices.map(({ label, answer, name }) => (
            <button
              type="button"
              className="plain"
              key={answer}
              aria-label={name ?? `${texts.place} ${label}`}
              disabled={isBusy}
              onClick={() => onAnswer(answer)}
            >
              {label}
            </button>
          ))}
        </div>
      ) : (
        <form className="inline" onSubmit={submit}>
          <Field label={String(data.question ?? data.letters ?? texts.answer)}>
            {(attributes) => (
              <input
                {...attributes}
                required
                maxLength={200}
                autoComplete="off"
                value={text}
                onChange={(event) => setText(event.target.value)}
              />
            )}
          </Field>
          <button type="submit" className="main" disabled={isBusy}>
            {texts.send}
          </button>
        </form>
      )}
    </>
  );
}

interface Choice {
  label: string;
  answer: string;
  /** Where the label says it all. */
  name?: string;
}

function choicesOf(data: Record<string, unknown>): Choice[] | null {
  const places = data.grid_size ?? data.total;
  if (typeof places === 'number')
    return Array.from({ length: places }, (_, index) => ({ label: String(index + 1), answer: String(index) }));
  if (Array.isArray(data.flags))
    return data.flags.map((flag) => ({ label: String(flag), answer: String(flag), name: String(flag) }));
  if (typeof data.button_text === 'string') return [{ label: data.button_text, answer: 'blitz', name: data.button_text }];
  return null;
}
