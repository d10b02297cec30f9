import {
  compareClicks,
  countButtonClicks,
  countClicks,
  countClicksByHour,
  countClicksByType,
  countClicksByWeekday,
  listTopClickers,
  listUserClicks,
  logClick,
} from '../../domain/content/menu-layout/click-stats.ts';
import { text } from '../../domain/messaging/texts.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { router, unaudited, webProcedure } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import {
  ButtonClickStatsResponse,
  ButtonStatsQuery,
  ButtonTypeStatsResponse,
  ClickPartsQuery,
  CompareQuery,
  DaysQuery,
  HourlyStatsResponse,
  LogClickQuery,
  MenuClickStatsResponse,
  PeriodComparisonResponse,
  SequencesQuery,
  TopUsersQuery,
  TopUsersResponse,
  UserClickSequencesResponse,
  WeekdayStatsResponse,
} from './menu-layout-stats.schemas.ts';

const tags: [string] = ['menu-layout'];

const WEEKDAYS = [
  ...([
    'messages.weekday_monday',
    'messages.weekday_tuesday',
    'messages.weekday_wednesday',
    'messages.weekday_thursday',
  ] as const),
  ...(['messages.weekday_friday', 'messages.weekday_saturday', 'messages.weekday_sunday'] as const),
];

export const menuLayoutStatsRouter = router({
  all: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/menu-layout/stats', tags, summary: 'Clicks of every button' },
      description: 'Counts the clicks of every button, most pressed first.',
    })
    .input(fromWire(DaysQuery))
    .output(toWire(MenuClickStatsResponse))
    .query(({ ctx, input }) => countClicks(ctx.app, input.days)),

  button: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/menu-layout/stats/buttons/{button_id}', tags, summary: 'Clicks of one button' },
      description: 'Counts the clicks of one button, also by day. The counts are zero for an unknown button.',
    })
    .input(fromWire(ButtonStatsQuery))
    .output(toWire(ButtonClickStatsResponse))
    .query(({ ctx, input }) => countButtonClicks(ctx.app, input.buttonId, input.days)),

  logClick: unaudited('A click is a row of the statistics.', webProcedure)
    .meta({
      openapi: { method: 'POST', path: '/menu-layout/stats/log-click', tags, summary: 'Record a click' },
      description:
        'Records that a button was pressed, for buttons that the chat does not see, such as links. The click of an unknown user is recorded without a user.',
      wire: { query: ['button_id', 'user_id', 'callback_data', 'button_type', 'button_text'] },
    })
    .input(fromWire(LogClickQuery))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await logClick(ctx.app, input);
      return { success: true as const };
    }),

  byType: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/menu-layout/stats/by-type', tags, summary: 'Clicks by type of button' },
      description: 'Counts clicks by type of button.',
    })
    .input(fromWire(DaysQuery))
    .output(toWire(ButtonTypeStatsResponse))
    .query(({ ctx, input }) => countClicksByType(ctx.app, input.days)),

  byHour: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/menu-layout/stats/by-hour', tags, summary: 'Clicks by hour of the day (UTC)' },
      description: 'Counts clicks by hour of the day in UTC; all 24 hours are listed.',
    })
    .input(fromWire(ClickPartsQuery))
    .output(toWire(HourlyStatsResponse))
    .query(async ({ ctx, input: { days, buttonId = null } }) => {
      const counts = await countClicksByHour(ctx.app, days, buttonId);
      return { items: counts.map((count, hour) => ({ hour, count })), buttonId };
    }),

  byWeekday: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/menu-layout/stats/by-weekday', tags, summary: 'Clicks by day of the week (UTC)' },
      description: 'Counts clicks by day of the week in UTC; all seven days are listed.',
    })
    .input(fromWire(ClickPartsQuery))
    .output(toWire(WeekdayStatsResponse))
    .query(async ({ ctx, input: { days, buttonId = null } }) => {
      const counts = await countClicksByWeekday(ctx.app, days, buttonId);
      const items = WEEKDAYS.map((key, weekday) => ({ weekday, weekdayName: text('ru', key), count: counts[weekday] ?? 0 }));
      return { items, buttonId };
    }),

  topUsers: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/menu-layout/stats/top-users', tags, summary: 'List users with the most clicks' },
      description: 'Lists the users with most clicks.',
    })
    .input(fromWire(TopUsersQuery))
    .output(toWire(TopUsersResponse))
    .query(async ({ ctx, input: { days, limit, buttonId = null } }) => {
      const items = await listTopClickers(ctx.app, days, buttonId, limit);
      return { items, buttonId, limit };
    }),

  compare: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/menu-layout/stats/compare', tags, summary: 'Clicks of two adjacent periods' },
      description: 'Compares the clicks of the last days with those of the days directly before them.',
    })
    .input(fromWire(CompareQuery))
    .output(toWire(PeriodComparisonResponse))
    .query(async ({ ctx, input: { currentDays, previousDays, buttonId = null } }) => ({
      ...(await compareClicks(ctx.app, currentDays, previousDays, buttonId)),
      buttonId,
    })),

  sequences: webProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/menu-layout/stats/users/{user_id}/sequences',
        tags,
        summary: 'Sequence of the clicks of a user',
      },
      description: 'Lists what a user pressed, newest first. The list is empty for an unknown user.',
    })
    .input(fromWire(SequencesQuery))
    .output(toWire(UserClickSequencesResponse))
    .query(async ({ ctx, input: { userId, limit } }) => {
      const items = await listUserClicks(ctx.app, userId, limit);
      return { userId, items, total: items.length };
    }),
});
