import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ActorClient, userClient } from '../support/actors.ts';
import { type ApiClient, testServer, tokenClient } from '../support/api.ts';
import { aPoll, given } from '../support/poll-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let client: ApiClient;
let user: ActorClient;

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  client = await tokenClient(t.app, server);
  user = await userClient(t.app, server, { language: 'en' });
});
afterAll(() => server.close());

const options = [{ text: 'Yes' }, { text: 'No' }];
const body = {
  title: ' Quality ',
  description: ' ',
  questions: [{ text: ' Speed? ', options: [{ text: ' Good ' }, { text: 'Bad' }] }],
};

describe('polls (Web API)', () => {
  it('makes a poll, lists it, counts it and deletes it', async () => {
    const made = await client.post('/polls', { ...body, reward_amount_kopeks: 700 });
    expect(made.status).toBe(200);
    expect(made.body).toEqual({
      id: expect.any(Number),
      title: 'Quality',
      description: null,
      reward_enabled: false,
      reward_amount_kopeks: 0,
      reward_amount_rubles: 0,
      questions: [
        {
          id: expect.any(Number),
          text: 'Speed?',
          order: 1,
          options: [
            { id: expect.any(Number), text: 'Good', order: 1 },
            { id: expect.any(Number), text: 'Bad', order: 2 },
          ],
        },
      ],
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    const { id } = made.body;
    expect((await client.get(`/polls/${id}`)).body).toEqual(made.body);
    const list = await client.get('/polls', { query: { limit: 1 } });
    expect(list.body).toMatchObject({ limit: 1, offset: 0, items: [{ id, questions_count: 1, responses_count: 0 }] });
    expect((await client.delete(`/polls/${id}`)).body).toEqual({ success: true });
    for (const path of ['', '/stats', '/responses'])
      expect(await client.get(`/polls/${id}${path}`)).toMatchObject({ status: 404, body: { detail: 'Poll not found' } });
    expect(await client.post(`/polls/${id}/send`, { target: 'all' })).toMatchObject({ status: 404 });
  });

  it.each([
    ['a blank title', { title: '  ' }, ['body', 'title']],
    ['a blank question', { questions: [{ text: ' ', options }] }, ['body', 'questions', '0', 'text']],
    [
      'a blank option',
      { questions: [{ text: 'Q', options: [{ text: ' ' }, { text: 'B' }] }] },
      ['body', 'questions', '0', 'options', '0', 'text'],
    ],
    ['no question', { questions: [] }, ['body', 'questions']],
    ['one option', { questions: [{ text: 'Q', options: [{ text: 'A' }] }] }, ['body', 'questions', '0', 'options']],
    [
      'twin options',
      { questions: [{ text: 'Q', options: [{ text: 'a ' }, { text: 'A' }] }] },
      ['body', 'questions', '0', 'options'],
    ],
    ['a reward of nothing', { reward_enabled: true }, ['body', 'reward_amount_kopeks']],
    ['a reward too high', { reward_amount_kopeks: 1_000_000_001 }, ['body', 'reward_amount_kopeks']],
  ])('refuses %s', async (_what, change, loc) => {
    const reply = await client.post('/polls', { ...body, ...change });
    expect(reply.status).toBe(422);
    expect(reply.body.detail[0].loc).toEqual(loc);
    expect(reply.body.detail[0].msg).not.toMatch(/^Value error, Value error/);
  });

  it('answers what a send has done, and an empty target is 400', async () => {
    const poll = await aPoll(t.app);
    expect((await client.post(`/polls/${poll.id}/send`, { target: 'tariff_x' })).body).toEqual({
      poll_id: poll.id,
      target: 'tariff_x',
      sent: 0,
      failed: 0,
      skipped: 0,
      total: 0,
    });
    const empty = await client.post(`/polls/${poll.id}/send`, { target: '' });
    expect([empty.status, empty.body]).toEqual([400, { detail: 'Target must not be empty' }]);
  });
});

describe('cabinet polls', () => {
  it('an answer that is sent again with its key is answered alike, and pays once', async () => {
    const user = await userClient(t.app, server, { language: 'en' });
    const poll = await aPoll(t.app, 700);
    const path = `/cabinet/polls/${await given(t.app, poll, user.user.id)}/questions`;
    const [first, second] = poll.questions;
    await user.post(`${path}/${first!.id}/answer`, { option_id: first!.options[0]!.id });
    const keyed = user.with({ 'idempotency-key': 'last' });
    const send = (option: number) => keyed.post(`${path}/${second!.id}/answer`, { option_id: second!.options[option]!.id });
    const paid = await send(1);
    expect(paid).toMatchObject({ status: 200, body: { is_completed: true, reward_granted: 700 } });
    expect(await send(1)).toMatchObject({ status: 200, body: paid.body });
    expect((await send(0)).status).toBe(422);
    const [row] = await t.app.db.sql<{ balance: number }>('SELECT balance_kopeks AS balance FROM users WHERE id = $1::int', [
      user.user.id,
    ]);
    expect(row!.balance).toBe(700);
  });

  it('leads from the list to the reward', async () => {
    const user = await userClient(t.app, server, { language: 'en' });
    const poll = await aPoll(t.app, 12_345);
    const responseId = await given(t.app, poll, user.user.id);
    const path = `/cabinet/polls/${responseId}`;
    const open = {
      id: poll.id,
      response_id: responseId,
      title: poll.title,
      description: null,
      total_questions: 2,
      answered_questions: 0,
      is_completed: false,
      reward_amount: 123,
    };
    expect((await user.get('/cabinet/polls')).body).toEqual([open]);
    expect((await user.get('/cabinet/polls/count')).body).toEqual({ count: 1 });
    expect((await user.get(path)).body).toEqual(open);
    const [first, second] = poll.questions;
    expect((await user.post(`${path}/start`)).body).toEqual({
      response_id: responseId,
      current_question_index: 1,
      total_questions: 2,
      question: first,
    });
    const answered = await user.post(`${path}/questions/${first!.id}/answer`, { option_id: first!.options[0]!.id });
    expect([answered.status, answered.body]).toEqual([
      200,
      {
        success: true,
        is_completed: false,
        next_question: second,
        current_question_index: 2,
        total_questions: 2,
        reward_granted: null,
        message: null,
      },
    ]);
    expect((await user.post(`${path}/start`)).body).toMatchObject({ current_question_index: 2, question: { id: second!.id } });
    const last = await user.post(`${path}/questions/${second!.id}/answer`, { option_id: second!.options[1]!.id });
    expect(last.body).toEqual({
      success: true,
      is_completed: true,
      next_question: null,
      current_question_index: null,
      total_questions: 2,
      reward_granted: 12_345,
      message: expect.stringContaining('123.45'),
    });
    for (const again of [`${path}/start`, `${path}/questions/${first!.id}/answer`]) {
      const reply = await user.post(again, again.endsWith('answer') ? { option_id: 1 } : undefined);
      expect([reply.status, reply.body]).toEqual([400, { detail: 'This poll has already been completed' }]);
    }
    expect((await user.get('/cabinet/polls/count')).body).toEqual({ count: 0 });
    const responses = await client.get(`/polls/${poll.id}/responses`);
    expect(responses.body.items[0]).toMatchObject({
      id: responseId,
      user_id: user.user.id,
      reward_given: true,
      reward_amount_kopeks: 12_345,
      reward_amount_rubles: 123.45,
      answers: [{ option_text: 'Yes' }, { option_text: 'No' }],
    });
    expect((await client.get(`/polls/${poll.id}/stats`)).body).toMatchObject({
      total_responses: 1,
      completed_responses: 1,
      reward_sum_kopeks: 12_345,
    });
  });

  it('refuses what is not the user’s, and wrong questions and options', async () => {
    const poll = await aPoll(t.app);
    const other = await aPoll(t.app);
    const stranger = await userClient(t.app, server);
    const responseId = await given(t.app, poll, user.user.id);
    const [first, second] = poll.questions;
    const answer = (who: ActorClient, questionId: number, optionId: unknown) =>
      who.post(`/cabinet/polls/${responseId}/questions/${questionId}/answer`, { option_id: optionId });
    const unknown = [404, { detail: 'Poll not found' }];
    for (const reply of [
      await stranger.get(`/cabinet/polls/${responseId}`),
      await stranger.post(`/cabinet/polls/${responseId}/start`),
      await answer(stranger, first!.id, first!.options[0]!.id),
    ])
      expect([reply.status, reply.body]).toEqual(unknown);
    const foreign = await answer(user, other.questions[0]!.id, other.questions[0]!.options[0]!.id);
    expect([foreign.status, foreign.body]).toEqual([404, { detail: 'Question not found' }]);
    const wrong = await answer(user, first!.id, second!.options[0]!.id);
    expect([wrong.status, wrong.body]).toEqual([400, { detail: 'Invalid answer option' }]);
    const whole = 'Input should be a valid integer';
    for (const [value, type, msg, input] of [
      [undefined, 'missing', 'Field required', {}],
      [null, 'int_type', whole, null],
      ['x', 'int_type', whole, 'x'],
      [1.5, 'int_from_float', `${whole}, got a number with a fractional part`, 1.5],
    ]) {
      const reply = await answer(user, first!.id, value);
      expect([reply.status, reply.body.detail]).toEqual([422, [{ loc: ['body', 'option_id'], type, msg, input }]]);
    }
  });

  it('refuses to start a poll whose questions have been deleted', async () => {
    const poll = await aPoll(t.app);
    const responseId = await given(t.app, poll, user.user.id);
    await t.app.db.sql('DELETE FROM poll_questions WHERE poll_id = $1::int RETURNING id', [poll.id]);
    const { status, body } = await user.post(`/cabinet/polls/${responseId}/start`);
    expect([status, body.detail]).toEqual([400, 'No questions available']);
  });
});
