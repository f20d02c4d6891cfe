// A flood of scripted posts against the public door of forms, each with its proof of work.
import { client } from './api.ts';
import { solveFast } from './proof-of-work.ts';

export interface FloodOptions {
  url: string;
  formIds: string[];
  addresses: string[];
  /** Posts with a proof for each address and form. */
  times: number;
  /** Posts without a proof, of every kind of body. */
  bare: number;
  /** Makes the token of a post in place of the API, so that thousands of proofs cost little. */
  challengeOf?: ((formId: string) => Challenge) | undefined;
}

type Challenge = { token: string; difficulty: number };

/** How often each answer was given, such as `202 RECEIVED`. */
export type FloodAnswers = Record<string, number>;

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const AT_ONCE = 8;
/** A token that is younger counts as a machine's. */
const OLD_ENOUGH_MS = 2_100;

export async function flood({
  url,
  formIds,
  addresses,
  times,
  bare,
  challengeOf,
}: FloodOptions): Promise<FloodAnswers> {
  const answers: FloodAnswers = {};
  const count = ({ status, body }: { status: number; body: { status?: string } | string }) => {
    const name = `${status} ${(typeof body === 'object' && body.status) || ''}`.trim();
    answers[name] = (answers[name] ?? 0) + 1;
  };
  const json = client(url);
  const form = client(url, FORM);
  for (const formId of formIds) {
    const wanted = Array.from({ length: times }, () => addresses).flat();
    // All tokens of a form come first: their difficulty rises with the flood, and a token keeps its own.
    const posts: { email: string; issue: () => Challenge }[] = [];
    await inParallel(wanted, async (email) => {
      if (challengeOf) return void posts.push({ email, issue: () => challengeOf(formId) });
      const { body } = await json.get(`/f/${formId}/challenge`);
      posts.push({ email, issue: () => body });
    });
    await new Promise((resolve) => setTimeout(resolve, OLD_ENOUGH_MS));
    await inParallel(posts, async ({ email, issue }) => {
      const { token, difficulty } = issue();
      const body = { email, _token: token, _nonce: solveFast(token, difficulty, formId, email) };
      const answer = await json.post(`/f/${formId}`, body);
      if (answer.body.status !== 'CONTINUE') return count(answer);
      const sealed = new URL(answer.body.url).searchParams.get('continue') ?? '';
      count(await json.post(`/f/${formId}`, { _continue: sealed }));
    });
  }
  await inParallel(
    Array.from({ length: bare }, (_, n) => n),
    async (n) => {
      const formId = formIds[n % formIds.length] ?? '';
      const email = addresses[n % addresses.length] ?? '';
      const fields = new URLSearchParams({ email }).toString();
      count(n % 2 === 0 ? await json.post(`/f/${formId}`, { email }) : await form.post(`/f/${formId}`, fields));
    },
  );
  return answers;
}

async function inParallel<T>(list: T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = list.values();
  const take = async () => {
    for (const one of left) await work(one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, take));
}
