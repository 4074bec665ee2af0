;; What a person does in Emacs with lsp-mode, as a batch. Each line of output is `name: value`; the last one says `done`.
(setq user-emacs-directory (file-name-as-directory (make-temp-file "emacs" t))
      package-user-dir (expand-file-name "elpa" user-emacs-directory)
      make-backup-files nil create-lockfiles nil auto-save-default nil)
(require 'package)
(add-to-list 'package-directory-list "/usr/share/emacs/site-lisp/elpa") ; -Q hides what Debian installed
(package-initialize)
(require 'lsp-mode) (require 'lsp-lens) (require 'lsp-diagnostics) (require 'lsp-completion) (require 'lsp-yaml)
(require 'yaml-mode) (require 'flymake)
(setq lsp-session-file (expand-file-name "lsp-session" user-emacs-directory) lsp-restart 'ignore
      lsp-enable-file-watchers nil lsp-enable-suggest-server-download nil lsp-enable-snippet nil
      lsp-diagnostics-provider :flymake lsp-headerline-breadcrumb-enable nil)
(load (getenv "EMACS_SETUP") nil t)
(remove-hook 'yaml-mode-hook #'lsp-deferred) ; a batch has no idle moment

(defun say (name value) (princ (format "%s: %s\n" name (replace-regexp-in-string "\n" " " (format "%s" value)))))
(defun wait-for (what check)
  (let ((end (+ (float-time) 40)) found)
    (while (not (or (setq found (funcall check)) (> (float-time) end)))
      (accept-process-output nil 0.02))
    (unless found (say "timeout" what) (kill-emacs 1))
    found))

(defvar ended nil)
(lsp-workspace-folders-add (directory-file-name (file-name-directory (getenv "EMACS_FILE")))) ; else it asks
(find-file (getenv "EMACS_FILE"))
(lsp)
(wait-for "a started server"
          (lambda () (and (lsp-workspaces) (eq 'initialized (lsp--workspace-status (car (lsp-workspaces)))))))
(say "servers" (mapcar (lambda (one) (lsp--client-server-id (lsp--workspace-client one))) (lsp-workspaces)))
(puthash "loopLs/run" (lambda (_workspace state)
                        (when (member (gethash "status" state) '("completed" "failed" "cancelled"))
                          (push (format "%s %s" (gethash "status" state) (gethash "reason" state)) ended)))
         (lsp--client-notification-handlers (lsp--workspace-client (car (lsp-workspaces)))))
(puthash "loopLs/event" #'ignore (lsp--client-notification-handlers (lsp--workspace-client (car (lsp-workspaces)))))

(wait-for "diagnostics" (lambda () (> (hash-table-count (lsp-diagnostics)) 0)))
(maphash (lambda (_file found) (dolist (one found) (say "diagnostic" (gethash "code" one)))) (lsp-diagnostics))
(goto-char (point-min))
(search-forward "loop.last")
(say "hover" (gethash "value" (gethash "contents" (lsp-request "textDocument/hover"
                                                               (lsp--text-document-position-params)))))
(goto-char (point-min))
(search-forward "{{loop.last.output}}\"")
(insert "\n        note: \"{{lo")
(say "completion" (mapcar #'substring-no-properties (all-completions "lo" (nth 2 (lsp-completion-at-point)))))
(delete-region (line-beginning-position) (line-end-position))
(delete-char -1)

(lsp-lens-mode 1)
(defun lens (title)
  "The command that is drawn above the loop."
  (let* ((params (list :textDocument (lsp--text-document-identifier)))
         (found (seq-find (lambda (one) (string-match-p title (gethash "title" (gethash "command" one))))
                          (lsp-request "textDocument/codeLens" params))))
    (and found (gethash "command" found))))
(wait-for "drawn lenses" (lambda () (seq-some (lambda (one) (overlay-get one 'lsp-lens)) (overlays-in 1 (point-max)))))
(lsp--execute-command (lens "Run workflow"))
(wait-for "the end of the run" (lambda () ended))
(say "run" (car ended))
(loop-ls-open-run)
(say "transcript" (buffer-string))
(switch-to-buffer (get-file-buffer (getenv "EMACS_FILE")))
(set-buffer-modified-p nil)
(say "done" "yes")
(kill-emacs 0)
