import { type Visit, visit } from '../support/browser.ts';

interface Use {
  /** `name=value` of a session; empty for nobody. */
  cookie: string;
  width: number;
}

/** Lends pages, a limited number at once. Each session has its own contexts, which are used again. */
export class PagePool {
  private readonly idle = new Map<string, Visit[]>();
  private readonly opened: Visit[] = [];
  private readonly waiting: (() => void)[] = [];
  private readonly url: string;
  private readonly expected: RegExp;
  private free: number;
  private closed = false;

  constructor(options: { url: string; expected: RegExp; atOnce: number }) {
    this.url = options.url;
    this.expected = options.expected;
    this.free = options.atOnce;
  }

  async use<T>({ cookie, width }: Use, work: (visit: Visit) => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      const lent = this.idle.get(cookie)?.pop() ?? (await this.open(cookie));
      await lent.page.setViewportSize({ width, height: 860 });
      lent.complaints.length = 0;
      const result = await work(lent);
      // Ends the live streams and polling of the page. A page whose check failed to finish is not used again.
      await lent.page.goto('about:blank');
      this.idle.set(cookie, [...(this.idle.get(cookie) ?? []), lent]);
      return result;
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.free++;
    }
  }

  /** Ends the work on lent pages too. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.all(this.opened.map((each) => each.close()));
  }

  private async open(cookie: string): Promise<Visit> {
    if (this.closed) throw new Error('the pool of pages is closed');
    const opened = await visit({ url: this.url, cookie, expected: this.expected });
    this.opened.push(opened);
    return opened;
  }
}
