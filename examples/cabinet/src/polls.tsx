import { useState } from 'react';
import { useAccount } from './account-state.tsx';
import { client } from './service.ts';
import { LoadedView, Outcome } from './states.tsx';
import { money, useLanguage, useTexts } from './texts.ts';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

type Started = Awaited<ReturnType<typeof client.api.polls.start.mutate>>;

/** Polls that the operator has sent to this user. */
export function Polls() {
  const texts = useTexts();
  const language = useLanguage();
  const { reload } = useAccount();
  const list = useLoaded(() => client.api.polls.list.query());
  const [open, setOpen] = useState<Started | null>(null);
  const start = useAction('start-poll', (input: { response_id: number }) => client.api.polls.start.mutate(input), setOpen);
  const end = () => {
    list.reload();
    reload();
  };
  return (
    <>
      {open && <Question key={open.response_id} started={open} onAnswered={end} />}
      <section className="card" data-testid="polls">
        <h2>{texts.views.polls}</h2>
        <LoadedView from={list} isEmpty={(value) => value.length === 0} empty={texts.noPolls}>
          {(value) => (
            <ul className="rows">
              {value.map((poll) => (
                <li key={poll.response_id}>
                  <span>
                    {poll.title}
                    <span className="soft">
                      {' '}
                      {poll.answered_questions} / {poll.total_questions}
                      {poll.reward_amount ? ` · ${texts.reward} ${money(poll.reward_amount, language)}` : ''}
                    </span>
                    {poll.description && <span className="soft block">{poll.description}</span>}
                  </span>
                  {poll.is_completed ? (
                    <span className="state active">{texts.completed}</span>
                  ) : (
                    <button
                      type="button"
                      className="plain"
                      disabled={start.isBusy}
                      onClick={() => void start.run({ response_id: poll.response_id })}
                    >
                      {texts.answerPoll}
                      <span className="hidden"> {poll.title}</span>
                    </button>
                  )}
                </li>
              ))}
            </ul>
          )}
        </LoadedView>
        <Outcome action={start} />
      </section>
    </>
  );
}

/** One question after the other; the answer to the last one may be rewarded. */
function Question({ started, onAnswered }: { started: Started; onAnswered: () => void }) {
  const texts = useTexts();
  const language = useLanguage();
  const [question, setQuestion] = useState<Started['question'] | null>(started.question);
  const [index, setIndex] = useState(started.current_question_index);
  const answer = useAction(
    `answer-poll-${started.response_id}`,
    (input: { response_id: number; question_id: number; option_id: number }, call) => client.api.polls.answer.mutate(input, call),
    ({ next_question, current_question_index }) => {
      setQuestion(next_question ?? null);
      setIndex(current_question_index ?? started.total_questions);
      onAnswered();
    },
  );
  return (
    <section className="card" data-testid="question" aria-live="polite">
      {question && (
        <>
          <h2>{question.text}</h2>
          <p className="soft">
            {index + 1} / {started.total_questions}
          </p>
          <div className="buttons">
            {question.options.map((option) => (
              <button
                type="button"
                className="plain"
                key={option.id}
                disabled={answer.isBusy}
                onClick={() =>
                  void answer.run({ response_id: started.response_id, question_id: question.id, option_id: option.id })
                }
              >
                {option.text}
              </button>
            ))}
          </div>
        </>
      )}
      <Outcome
        action={answer}
        done={({ is_completed, reward_granted, message }) =>
          is_completed &&
          (reward_granted ? `${texts.thanks} ${texts.reward} ${money(reward_granted, language)}` : (message ?? texts.thanks))
        }
      />
    </section>
  );
}
