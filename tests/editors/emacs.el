(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs
               '((yaml-mode yaml-ts-mode json-mode js-json-mode json-ts-mode) . ("loop-ls" "serve"))))
(add-hook 'yaml-mode-hook #'eglot-ensure)

;; eglot draws no lenses: M-x eglot-code-actions on a loop runs it, stops it, answers it and opens what it wrote.
;; M-x loop-ls-run runs all of the file and asks for the texts that it needs.
(defun loop-ls-command (name &rest argument)
  (jsonrpc-request (eglot-current-server) :workspace/executeCommand
                   (list :command name :arguments (vector argument)) :timeout 60)) ; the first run starts the engine

(defun loop-ls-run ()
  (interactive)
  (let ((argument (list :uri (eglot--path-to-uri buffer-file-name))) answer)
    (while (equal "input_required" (plist-get (setq answer (apply #'loop-ls-command "loopLs.run" argument)) :code))
      (seq-doseq (name (plist-get answer :names))
        (let ((key (intern (concat ":" name))) (text (read-string (concat name ": "))))
          (if (member name '("input" "goal" "message"))
              (setq argument (plist-put argument key text))
            (setq argument (plist-put argument :parameters
                                      (plist-put (plist-get argument :parameters) key text)))))))))

(defun loop-ls-open-run ()
  "Show all of the newest run of this file."
  (interactive)
  (let ((runs (plist-get (loop-ls-command "loopLs.runs" :uri (eglot--path-to-uri buffer-file-name) :limit 1) :runs)))
    (find-file-other-window
     (plist-get (loop-ls-command "loopLs.history" :runId (plist-get (elt runs 0) :runId) :show t) :path))))
