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
import { router, webProcedure } from '../trpc.ts';
import { toWire } from '../wire.ts';
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
    .meta({ openapi: { method: 'GET', path: '/menu-layout/stats', tags, summary: 'Clicks of every button' } })
    .input(DaysQuery)
    .output(toWire(MenuClickStatsResponse))
    .query(async ({ ctx, input }) => {
      const { items, totalClicks, start, end } = await countClicks(ctx.app, input.days);
      return { items, totalClicks, periodStart: start, periodEnd: end };
    }),

  button: webProcedure
    .meta({ openapi: { method: 'GET', path: '/menu-layout/stats/buttons/{button_id}', tags, summary: 'Clicks of one button' } })
    .input(ButtonStatsQuery)
    .output(toWire(ButtonClickStatsResponse))
    .query(async ({ ctx, input }) => {
      const { stats, byDay } = await countButtonClicks(ctx.app, input.button_id, input.days);
      return { buttonId: input.button_id, stats, clicksByDay: byDay };
    }),

  logClick: webProcedure
    .meta({
      openapi: { method: 'POST', path: '/menu-layout/stats/log-click', tags, summary: 'Tell of a click' },
      wire: { query: ['button_id', 'user_id', 'callback_data', 'button_type', 'button_text'] },
    })
    .input(LogClickQuery)
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await logClick(ctx.app, {
        buttonId: input.button_id,
        userId: input.user_id ?? null,
        callbackData: input.callback_data ?? null,
        buttonType: input.button_type ?? null,
        buttonText: input.button_text ?? null,
      });
      return { success: true as const };
    }),

  byType: webProcedure
    .meta({ openapi: { method: 'GET', path: '/menu-layout/stats/by-type', tags, summary: 'Clicks by type of button' } })
    .input(DaysQuery)
    .output(toWire(ButtonTypeStatsResponse))
    .query(({ ctx, input }) => countClicksByType(ctx.app, input.days)),

  byHour: webProcedure
    .meta({ openapi: { method: 'GET', path: '/menu-layout/stats/by-hour', tags, summary: 'Clicks by hour of the day (UTC)' } })
    .input(ClickPartsQuery)
    .output(HourlyStatsResponse)
    .query(async ({ ctx, input: { days, button_id = null } }) => {
      const counts = await countClicksByHour(ctx.app, days, button_id);
      return { items: counts.map((count, hour) => ({ hour, count })), button_id };
    }),

  byWeekday: webProcedure
    .meta({ openapi: { method: 'GET', path: '/menu-layout/stats/by-weekday', tags, summary: 'Clicks by day of the week (UTC)' } })
    .input(ClickPartsQuery)
    .output(WeekdayStatsResponse)
    .query(async ({ ctx, input: { days, button_id = null } }) => {
      const counts = await countClicksByWeekday(ctx.app, days, button_id);
      const items = WEEKDAYS.map((key, weekday) => ({ weekday, weekday_name: text('ru', key), count: counts[weekday] ?? 0 }));
      return { items, button_id };
    }),

  topUsers: webProcedure
    .meta({ openapi: { method: 'GET', path: '/menu-layout/stats/top-users', tags, summary: 'Users with most clicks' } })
    .input(TopUsersQuery)
    .output(toWire(TopUsersResponse))
    .query(async ({ ctx, input: { days, limit, button_id = null } }) => {
      const items = await listTopClickers(ctx.app, days, button_id, limit);
      return { items, buttonId: button_id, limit };
    }),

  compare: webProcedure
    .meta({ openapi: { method: 'GET', path: '/menu-layout/stats/compare', tags, summary: 'Clicks of two adjacent periods' } })
    .input(CompareQuery)
    .output(PeriodComparisonResponse)
    .query(async ({ ctx, input: { current_days, previous_days, button_id = null } }) => {
      const { current, previous, change } = await compareClicks(ctx.app, current_days, previous_days, button_id);
      return { current_period: current, previous_period: previous, change, button_id };
    }),

  sequences: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/menu-layout/stats/users/{user_id}/sequences', tags, summary: 'What a user pressed' },
    })
    .input(SequencesQuery)
    .output(toWire(UserClickSequencesResponse))
    .query(async ({ ctx, input: { user_id, limit } }) => {
      const items = await listUserClicks(ctx.app, user_id, limit);
      return { userId: user_id, items, total: items.length };
    }),
});
