import type { BanTopUser, BanTraffic, TrafficViolation } from '../../domain/ban-system/types.ts';
import { count, fieldsOf, firstOf, flag, freeForm, integerOr, momentOrNull, rowsOf, textOr } from './read-values.ts';

export function readTraffic(answer: unknown): BanTraffic {
  const row = fieldsOf(answer);
  return {
    enabled: flag(row.enabled),
    stats: freeForm(row.stats),
    topUsers: readTopUsers(row.top_users),
    recentViolations: readViolations(row.recent_violations),
  };
}

/** Of `[T]` or `{users: [T]}`. */
export function readTopUsers(answer: unknown): BanTopUser[] {
  return rowsOf(answer, 'users').map((row) => ({
    username: textOr(row.username, ''),
    bytesTotal: count(firstOf(row, 'bytes_total', 'total_bytes')),
    bytesLimit: integerOr(row.bytes_limit, null),
    overLimit: flag(row.over_limit),
  }));
}

/** Of `[V]` or `{violations: [V]}`. */
export function readViolations(answer: unknown): TrafficViolation[] {
  return rowsOf(answer, 'violations').flatMap((row) => {
    const detectedAt = momentOrNull(row.detected_at);
    if (detectedAt === null) return [];
    const violation = {
      id: integerOr(row.id, null),
      username: textOr(row.username, ''),
      email: textOr(row.email, null),
      violationType: textOr(firstOf(row, 'violation_type', 'type'), ''),
      description: textOr(row.description, null),
      bytesUsed: count(row.bytes_used),
      bytesLimit: count(row.bytes_limit),
      detectedAt,
      resolved: flag(row.resolved),
    };
    return [violation];
  });
}
