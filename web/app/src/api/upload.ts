import { ApiProblem } from './problem.ts';

/** Sends a form with a file; `onProgress` gets the share that has left the browser. */
export function upload<T>(
  projectId: string,
  path: string,
  form: FormData,
  onProgress: (share: number) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', path);
    request.setRequestHeader('X-Project-Id', projectId);
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
    request.onerror = () => reject(ApiProblem.unreachable());
    request.onload = () =>
      request.status < 300
        ? resolve(request.response as T)
        : reject(ApiProblem.of(request.status, request.response as unknown));
    request.send(form);
  });
}
