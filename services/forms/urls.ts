/** The public addresses of a form. */
export const formUrls = (baseUrl: string, id: string) => ({
  page: `${baseUrl}/f/${id}`,
  script: `${baseUrl}/f/${id}.js`,
});
