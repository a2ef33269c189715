// The page as a person sees it: tests say what they do through this object, and find things by role and name.
export class Lab {
  constructor(page) {
    this.page = page;
  }

  /** The heading may stand in the static shell, so both are waited for: the program and the heading. */
  async ready() {
    await this.page.locator('html[data-started]').waitFor({ state: 'attached' });
    await this.heading().waitFor();
  }

  heading() {
    return this.page.getByRole('heading', { level: 1 }).first();
  }

  button(name) {
    return this.page.getByRole('button', { name });
  }

  region(name) {
    return this.page.getByRole('region', { name });
  }

  /** How far the page is wider than its window, in CSS pixels. */
  sidewaysOverflow() {
    return this.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  }
}
